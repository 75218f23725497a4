// Library functions in place of Luau's: its own results, but never long between safe points. Its
// plain find, split and gsub are quadratic in the worst case.
#include "pattern_lib.h"
#include "vm.h"

#include "ldo.h"

#include <limits.h>
#include <string.h>

namespace hk
{

int sort(lua_State* L); // sort.cpp
extern lua_CFunction stockSort;

namespace
{

lua_CFunction stockRep, stockCreate;

void split_bytes(lua_State* L, const char* s, size_t size)
{
    lua_createtable(L, int(size), 0);
    for (size_t i = 0; i < size; i++)
    {
        lua_pushlstring(L, s + i, 1);
        lua_rawseti(L, -2, int(i) + 1);
    }
}

int split(lua_State* L)
{
    size_t size, sepSize;
    const char* s = luaL_checklstring(L, 1, &size);
    const char* sep = luaL_optlstring(L, 2, ",", &sepSize);
    if (sepSize == 0)
    {
        split_bytes(L, s, size);
        return 1;
    }
    lua_createtable(L, 0, 0);
    const char* end = s + size;
    int count = 0;
    for (const char* from = s;;)
    {
        const char* at = find_text(from, end, sep, sepSize);
        lua_pushlstring(L, from, size_t((at ? at : end) - from));
        lua_rawseti(L, -2, ++count);
        if (!at)
            return 1;
        from = at + sepSize;
    }
}

int rep(lua_State* L)
{
    size_t size;
    luaL_checklstring(L, 1, &size);
    luaL_checkinteger(L, 2);
    if (size == 0)
    {
        lua_pushliteral(L, "");
        return 1;
    }
    return stockRep(L);
}

// More elements than a table can have in Luau: to a script that is out of memory as well.
int create(lua_State* L)
{
    constexpr double kMostElements = 1 << 26;
    double n = lua_tonumber(L, 1);
    if (n > kMostElements && n <= INT_MAX)
        luaD_throw(L, LUA_ERRMEM);
    return stockCreate(L);
}

} // namespace

void open_text_functions(lua_State* L)
{
    for (const luaL_Reg* r = pattern_functions; r->name; r++)
        replace_function(L, "string", r->name, r->func, nullptr);
    replace_function(L, "string", "split", split, nullptr);
    replace_function(L, "string", "rep", rep, &stockRep);
    replace_function(L, "table", "create", create, &stockCreate);
    replace_function(L, "table", "sort", sort, &stockSort);
}

} // namespace hk
