// Whether wrapper and library were compiled with the same ABI settings. Each is asked through a
// function of the library what it believes, and compared with what this file was compiled with.
#include "vm.h"

#include <stdio.h>

namespace
{

std::string check(lua_State* L)
{
    char text[160];
    // The library refuses to reserve more than its own LUAI_MAXCSTACK.
    if (!lua_checkstack(L, LUAI_MAXCSTACK) || lua_checkstack(L, LUAI_MAXCSTACK + 1))
    {
        snprintf(text, sizeof(text), "LUAI_MAXCSTACK: the wrapper has %d, the library another value", LUAI_MAXCSTACK);
        return text;
    }
    if (lua_type(L, LUA_REGISTRYINDEX) != LUA_TTABLE)
        return "LUA_REGISTRYINDEX: the library does not know the wrapper's value";
    // A vector of another size is another signature: the components come back shifted or cut.
    lua_pushvector(L, 1.0f, 2.0f, 3.0f);
    lua_pushvector(L, 1.0f, 2.0f, 3.0f);
    const float* v = lua_tovector(L, -1);
    if (!v || v[0] != 1.0f || v[1] != 2.0f || v[2] != 3.0f || lua_rawequal(L, -1, -2) != 1)
        return "LUA_VECTOR_SIZE: the library has another value";
    lua_pop(L, 2);
    return "";
}

} // namespace

extern "C" const char* hk_abi_mismatch(void)
{
    static std::string text;
    lua_State* L = luaL_newstate();
    if (!L)
        return "not enough memory";
    text = check(L);
    lua_close(L);
    return text.c_str();
}
