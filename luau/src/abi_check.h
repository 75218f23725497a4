// Whether the file that includes this was compiled with the same ABI settings as the Luau library it is
// linked with. Each setting is asked for through a function of the library.
//
// Everything here is static: a file compiled with other settings must get code of its own.
#pragma once

#include "lua.h"

#include <stdio.h>
#include <string>

namespace hk
{

// Components differ from each other, so that shifted ones show. A fourth one, where there is one, lies
// beyond the end of a library's vector of three.
static inline bool vector_comes_back(lua_State* L)
{
#if LUA_VECTOR_SIZE == 4
    lua_pushvector(L, 1.5f, 2.5f, 3.5f, 4.5f);
#else
    lua_pushvector(L, 1.5f, 2.5f, 3.5f);
#endif
    const float* v = lua_tovector(L, -1);
    bool same = v != nullptr;
    for (int i = 0; same && i < LUA_VECTOR_SIZE; i++)
        same = v[i] == 1.5f + float(i);
    lua_pop(L, 1);
    return same;
}

// Empty, or what differs. The order matters: with another LUAI_MAXCSTACK the registry's index is wrong.
static inline std::string abi_difference(lua_State* L)
{
    char text[120];
    // The library refuses to reserve more than its own LUAI_MAXCSTACK.
    if (!lua_checkstack(L, LUAI_MAXCSTACK) || lua_checkstack(L, LUAI_MAXCSTACK + 1))
    {
        snprintf(text, sizeof(text), "LUAI_MAXCSTACK is %d here and has another value in the library", LUAI_MAXCSTACK);
        return text;
    }
    if (lua_type(L, LUA_REGISTRYINDEX) != LUA_TTABLE)
        return "LUA_REGISTRYINDEX is not the library's";
    if (!vector_comes_back(L))
    {
        snprintf(
            text, sizeof(text), "LUA_VECTOR_SIZE is %d here and has another value in the library", LUA_VECTOR_SIZE
        );
        return text;
    }
    return "";
}

} // namespace hk
