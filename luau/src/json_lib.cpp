#include "json_lib.h"
#include "raise.h"

#include "json.h"
#include "marks.h"

#include "lualib.h"

#include "ldo.h"
#include "lgc.h"
#include "lstate.h"

#include <charconv>
#include <math.h>

namespace hk
{

namespace
{

LuaTable* table_argument(lua_State* L)
{
    if (!lua_istable(L, 1))
        raise(L, "invalid_argument", "%s: argument 1 must be a table, got %s", function_name(L), luaL_typename(L, 1));
    return hvalue(L->base);
}

void key_argument(lua_State* L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        raise(L, "invalid_argument", "%s: argument 2 must be a string, got %s", function_name(L), luaL_typename(L, 2));
}

// (t: {T}?) -> {T}: the same table, which encodes as an array even when it is empty.
int json_array(lua_State* L)
{
    if (lua_isnoneornil(L, 1))
    {
        new_array(L, 0);
        return 1;
    }
    if (table_argument(L)->readonly)
        raise(L, "invalid_argument", "%s: argument 1 must not be a frozen table", function_name(L));
    mark_array(L, 1);
    lua_settop(L, 1);
    return 1;
}

// (v: any) -> boolean: marked as an array, or with an element 1.
int json_isarray(lua_State* L)
{
    bool yes = false;
    if (lua_istable(L, 1))
        yes = is_array(L, 1) || lua_rawgeti(L, 1, 1) != LUA_TNIL;
    lua_pushboolean(L, yes);
    return 1;
}

// (t: {}, key: string) -> (): the key is left out when t is encoded, if it has no value.
int json_omit(lua_State* L)
{
    bool frozen = table_argument(L)->readonly;
    key_argument(L);
    if (frozen)
        raise(L, "invalid_argument", "%s: argument 1 must not be a frozen table", function_name(L));
    omit_null_key(L, 1, 2);
    return 0;
}

// (t: {}, key: string) -> boolean: the key was null in the text and has no value now, or its value is json.null.
int json_isnull(lua_State* L)
{
    table_argument(L);
    key_argument(L);
    bool yes = is_null_key(L, 1, 2);
    lua_settop(L, 2);
    lua_rawget(L, 1);
    lua_pushboolean(L, yes || is_null(L, -1));
    return 1;
}

// Digits of any length, so it reads them in place; more than a double holds are infinity.
double nearest(const char* digits, size_t size)
{
    double value = digits[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    std::from_chars(digits, digits + size, value);
    return value;
}

// (v: number | integer | exact) -> number: the nearest double.
int json_tonumber(lua_State* L)
{
    size_t size;
    if (const char* digits = to_exact(L, 1, &size))
        lua_pushnumber(L, nearest(digits, size));
    else if (lua_isinteger64(L, 1))
        lua_pushnumber(L, double(lua_tointeger64(L, 1, nullptr)));
    else if (lua_type(L, 1) == LUA_TNUMBER)
        lua_settop(L, 1);
    else
        raise(L, "invalid_argument", "%s: argument 1 must be a number, got %s", function_name(L), luaL_typename(L, 1));
    return 1;
}

} // namespace

const char* function_name(lua_State* L)
{
    const TString* name = curr_func(L)->c.debugname;
    return name ? getstr(name) : "json";
}

void run_with_retry(lua_State* L, void (*f)(lua_State* L, void* context), void* context)
{
    int top = lua_gettop(L);
    int status = luaD_rawrunprotected(L, f, context);
    if (status == LUA_ERRMEM)
    {
        lua_settop(L, top);
        luaC_fullgc(L);
        status = luaD_rawrunprotected(L, f, context);
    }
    if (status != LUA_OK)
        luaD_throw(L, status);
}

void json_open(lua_State* L)
{
    static const struct
    {
        const char* field;
        const char* name;
        lua_CFunction function;
    } functions[] = {
        {"decode", "json.decode", json_decode},
        {"encode", "json.encode", json_encode},
        {"array", "json.array", json_array},
        {"isarray", "json.isarray", json_isarray},
        {"omit", "json.omit", json_omit},
        {"isnull", "json.isnull", json_isnull},
        {"tonumber", "json.tonumber", json_tonumber},
    };
    lua_createtable(L, 0, 8);
    for (const auto& f : functions)
    {
        lua_pushcfunction(L, f.function, f.name);
        lua_setfield(L, -2, f.field);
    }
    push_null(L);
    lua_setfield(L, -2, "null");
}

} // namespace hk
