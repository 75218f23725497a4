// string.find, string.split and string.rep: Luau's own results, but never long between safe points.
// Its plain find and split are quadratic in the worst case.
#include "vm.h"

#include "Luau/Compiler.h"

#include <string.h>

namespace hk
{

namespace
{

struct Stock
{
    lua_CFunction find, rep;
} stock;

struct SpecialBytes
{
    bool is[256] = {};
    constexpr SpecialBytes()
    {
        for (const char* c = "^$*+?.([%-"; *c; c++)
            is[uint8_t(*c)] = true;
    }
};

lua_CFunction stockSort;

bool is_plain(const char* pattern, size_t size)
{
    static constexpr SpecialBytes special;
    for (size_t i = 0; i < size; i++)
        if (special.is[uint8_t(pattern[i])])
            return false;
    return true;
}

// The first place of a text, in time linear in both. A look for the first byte is the quicker way as
// long as few of its finds are wrong; memmem takes some time to begin with, but is never quadratic.
const char* find_text(const char* from, const char* end, const char* text, size_t size)
{
    if (size == 0)
        return from;
    for (int tries = 0; tries < 16; tries++)
    {
        if (size_t(end - from) < size)
            return nullptr;
        const char* at = static_cast<const char*>(memchr(from, text[0], size_t(end - from) - size + 1));
        if (!at || memcmp(at + 1, text + 1, size - 1) == 0)
            return at;
        from = at + 1;
    }
    return static_cast<const char*>(memmem(from, size_t(end - from), text, size));
}

int find(lua_State* L)
{
    size_t size, patternSize;
    const char* s = luaL_checklstring(L, 1, &size);
    const char* p = luaL_checklstring(L, 2, &patternSize);
    if (!is_plain(p, patternSize) && !lua_toboolean(L, 4))
        return stock.find(L);
    int init = luaL_optinteger(L, 3, 1);
    if (init < 0)
        init = size_t(-int64_t(init)) > size ? 0 : init + int(size) + 1;
    if (init < 1)
        init = 1;
    if (size_t(init) > size + 1)
    {
        lua_pushnil(L);
        return 1;
    }
    const char* from = s + init - 1;
    const char* at = find_text(from, s + size, p, patternSize);
    if (!at)
    {
        lua_pushnil(L);
        return 1;
    }
    int start = int(at - s) + 1;
    lua_pushinteger(L, start);
    lua_pushinteger(L, start + int(patternSize) - 1);
    return 2;
}

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
    return stock.rep(L);
}

// table.sort looks for no kill between comparisons of its own; a comparison in Luau has one. So what
// would take long without one is given `a < b` as a function.
bool sorts_long(lua_State* L)
{
    if (lua_gettop(L) > 1 && !lua_isnil(L, 2))
        return false;
    if (!lua_istable(L, 1))
        return false;
    int n = lua_objlen(L, 1);
    if (n <= 64)
        return false;
    lua_rawgeti(L, 1, 1);
    bool numbers = lua_type(L, -1) == LUA_TNUMBER;
    lua_pop(L, 1);
    return n > (numbers ? 200000 : 64);
}

int sort(lua_State* L)
{
    if (sorts_long(L))
    {
        static const std::string code = Luau::compile("return function(a, b) return a < b end");
        lua_settop(L, 1);
        if (luau_load(L, "=sort", code.data(), code.size(), 0) != 0)
            lua_error(L);
        lua_call(L, 0, 1);
    }
    return stockSort(L);
}

void replace(lua_State* L, const char* table, const char* name, lua_CFunction f, lua_CFunction* old)
{
    lua_getglobal(L, table);
    lua_getfield(L, -1, name);
    if (old)
        *old = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, f, name);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

} // namespace

void open_text_functions(lua_State* L)
{
    replace(L, "table", "sort", sort, &stockSort);
    replace(L, "string", "find", find, &stock.find);
    replace(L, "string", "split", split, nullptr);
    replace(L, "string", "rep", rep, &stock.rep);
}

} // namespace hk
