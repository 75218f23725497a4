// Compiled on purpose with another LUA_VECTOR_SIZE than the library: the check must say so.
#undef LUA_VECTOR_SIZE
#define LUA_VECTOR_SIZE 4
#include "abi_check.h"

std::string abi_difference_with_wrong_vector(lua_State* L)
{
    return hk::abi_difference(L);
}
