// The wrapper agrees with the library about the ABI, and the check that says so can fail.
#include "abi_check.h"
#include "check.h"
#include "hukilau.h"

#include "lualib.h"

std::string abi_difference_with_wrong_stack(lua_State* L);
std::string abi_difference_with_wrong_vector(lua_State* L);

int main()
{
    CHECK(hk_abi_mismatch() == nullptr);

    lua_State* L = luaL_newstate();
    CHECK_EQ(hk::abi_difference(L), "");
    CHECK_EQ(abi_difference_with_wrong_stack(L), "LUAI_MAXCSTACK is 8000 here and has another value in the library");
    CHECK_EQ(abi_difference_with_wrong_vector(L), "LUA_VECTOR_SIZE is 4 here and has another value in the library");
    CHECK_EQ(lua_gettop(L), 0);
    lua_close(L);

    CHECK_EQ(HK_ABI_VERSION, 1);
    CHECK_EQ(std::string(hk_luau_version()).substr(0, 2), "0.");
    return check_result("abi");
}
