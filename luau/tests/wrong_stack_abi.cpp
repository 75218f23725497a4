// Compiled on purpose with another LUAI_MAXCSTACK than the library: the check must say so.
#undef LUAI_MAXCSTACK
#define LUAI_MAXCSTACK 8000
#include "abi_check.h"

std::string abi_difference_with_wrong_stack(lua_State* L)
{
    return hk::abi_difference(L);
}
