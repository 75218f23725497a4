#pragma once

#include "lua.h"
#include "lualib.h"

namespace hk
{

// The first place of a text, in time linear in both; nullptr when there is none.
const char* find_text(const char* from, const char* end, const char* text, size_t size);

extern const luaL_Reg pattern_functions[]; // of the string library

} // namespace hk
