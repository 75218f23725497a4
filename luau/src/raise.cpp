// Errors that a script catches as tables. Apart from the rest, for it works in any Luau state.
#include "raise.h"

#include "lualib.h"

#include <stdarg.h>
#include <stdio.h>

namespace hk
{

void push_error_value(lua_State* L, const char* code, const char* message, size_t size)
{
    luaL_checkstack(L, 4, "raising an error");
    lua_createtable(L, 0, 2);
    lua_pushstring(L, code);
    lua_setfield(L, -2, "code");
    lua_pushlstring(L, message, size);
    lua_setfield(L, -2, "message");
    // By name: JSON is used in states that are no VM of ours as well.
    lua_rawgetfield(L, LUA_REGISTRYINDEX, kErrorMetaName);
    lua_setmetatable(L, -2);
}

void raise(lua_State* L, const char* code, const char* fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    push_error_value(L, code, text, size_t(n) < sizeof(text) ? size_t(n) : sizeof(text) - 1);
    lua_error(L);
}

} // namespace hk
