// Whether wrapper and library were compiled with the same ABI settings.
#include "abi_check.h"

#include "hukilau.h"

#include "lualib.h"

static std::string difference()
{
    lua_State* L = luaL_newstate();
    if (!L)
        return "not enough memory to compare the ABI settings";
    std::string text = hk::abi_difference(L);
    lua_close(L);
    return text;
}

extern "C" const char* hk_abi_mismatch(void)
{
    static const std::string text = difference();
    return text.empty() ? nullptr : text.c_str();
}
