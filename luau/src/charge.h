// What a VM's owner offers to code that works on behalf of a script: memory accounting and the kill check.
#pragma once

#include "lua.h"

#include <stddef.h>

namespace hk
{

// Counts host memory against the VM's limit; false: the limit would be passed, and nothing was counted.
bool charge(lua_State* L, size_t bytes);
void uncharge(lua_State* L, size_t bytes);

// Throws if the run must end, and takes the sample that a profile is due. Long loops in C++ call it, because
// Luau's own safepoints are not reached in them.
void poll(lua_State* L);

} // namespace hk
