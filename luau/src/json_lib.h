// What the functions of the JSON table share.
#pragma once

#include "lua.h"

namespace hk
{

// The name a running C function was registered with: it begins its error messages.
const char* function_name(lua_State* L);

// Runs f; if memory runs out, once more after a full collection. For work that leaves nothing behind when it fails:
// it collects nothing while it runs, so a heap full of garbage could refuse it.
void run_with_retry(lua_State* L, void (*f)(lua_State* L, void* context), void* context);

} // namespace hk
