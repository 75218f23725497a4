#include "marks.h"

#include "lualib.h"

#include "lapi.h"
#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"
#include "ludata.h"

#include <string.h>

namespace hk
{

namespace
{

// Its address is the registry key of the table of null keys.
const char kNullKeys = 0;

class CategoryScope
{
public:
    CategoryScope(lua_State* L, int category) : L(L), before(L->activememcat)
    {
        L->activememcat = uint8_t(category);
    }
    ~CategoryScope()
    {
        L->activememcat = before;
    }

private:
    lua_State* L;
    uint8_t before;
};

LuaTable* table_at(lua_State* L, int idx)
{
    const TValue* o = luaA_toobject(L, idx);
    return o && ttistable(o) ? hvalue(o) : nullptr;
}

// Luau frees a table's parts from the category in its header, so the bytes must move along.
void set_category(lua_State* L, LuaTable* t, int category)
{
    if (t->memcat == category)
        return;
    size_t bytes = sizeof(LuaTable);
    if (t->node != &luaH_dummynode)
        bytes += sizeof(LuaNode) * size_t(sizenode(t));
    if (t->array)
        bytes += sizeof(TValue) * (size_t(t->sizearray) + (hasmetacache(t) ? TM_N : 0));
    L->global->memcatbytes[t->memcat] -= bytes;
    L->global->memcatbytes[category] += bytes;
    t->memcat = uint8_t(category);
}

// The weak table: object -> its one null key, or a set of them. Null keys mostly come alone, and a set costs a table.
LuaTable* null_keys(lua_State* L)
{
    return hvalue(luaH_getp(hvalue(registry(L)), const_cast<char*>(&kNullKeys), 0));
}

const TValue* null_keys_of(lua_State* L, LuaTable* t)
{
    if (t->memcat != kNulledCategory)
        return luaO_nilobject;
    TValue key;
    sethvalue(L, &key, t);
    return luaH_get(null_keys(L), &key);
}

void store_null_keys(lua_State* L, LuaTable* t, const TValue* keys)
{
    LuaTable* all = null_keys(L);
    TValue key;
    sethvalue(L, &key, t);
    setobj2t(L, luaH_set(L, all, &key), keys);
    luaC_barriert(L, all, keys);
}

void add_to_set(lua_State* L, LuaTable* set, TString* key)
{
    setbvalue(luaH_setstr(L, set, key), 1);
}

bool set_has(const TValue* keys, TString* key)
{
    if (ttisstring(keys))
        return tsvalue(keys) == key;
    return ttistable(keys) && !ttisnil(luaH_getstr(hvalue(keys), key));
}

int light_tostring(lua_State* L)
{
    if (is_null(L, 1))
    {
        lua_pushliteral(L, "null");
        return 1;
    }
    unsigned long long shown = lua_encodepointer(L, uintptr_t(lua_topointer(L, 1)));
    lua_pushfstring(L, "%s: 0x%016llx", luaL_typename(L, 1), shown);
    return 1;
}

int exact_tostring(lua_State* L)
{
    size_t size;
    const char* digits = to_exact(L, 1, &size);
    if (!digits)
        luaL_error(L, "tostring: argument 1 must be an exact number, got %s", luaL_typename(L, 1));
    lua_pushlstring(L, digits, size);
    return 1;
}

int exact_eq(lua_State* L)
{
    size_t na = 0, nb = 0;
    const char* a = to_exact(L, 1, &na);
    const char* b = to_exact(L, 2, &nb);
    lua_pushboolean(L, a && b && na == nb && memcmp(a, b, na) == 0);
    return 1;
}

int exact_refuse(lua_State* L)
{
    luaL_error(L, "an exact number has no arithmetic, order or concatenation: use json.tonumber(v) or tostring(v)");
}

void exact_open(lua_State* L)
{
    static const char* const refused[] = {
        "__add", "__sub", "__mul", "__div", "__idiv", "__mod", "__pow", "__unm", "__lt", "__le", "__concat"};
    lua_createtable(L, 0, 16);
    lua_pushcfunction(L, exact_tostring, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushcfunction(L, exact_eq, "eq");
    lua_setfield(L, -2, "__eq");
    for (const char* event : refused)
    {
        lua_pushcfunction(L, exact_refuse, event + 2);
        lua_setfield(L, -2, event);
    }
    lua_pushliteral(L, "exact");
    lua_setfield(L, -2, "__type");
    lua_pushliteral(L, "locked");
    lua_setfield(L, -2, "__metatable");
    lua_setreadonly(L, -1, true);
    lua_setuserdatametatable(L, kExactTag);
}

// Light userdata share one metatable, so its tostring serves the others as Luau itself would.
void null_open(lua_State* L)
{
    lua_setlightuserdataname(L, kNullTag, "null");
    push_null(L);
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, light_tostring, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_pushliteral(L, "locked");
    lua_setfield(L, -2, "__metatable");
    lua_setreadonly(L, -1, true);
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}

void null_keys_open(lua_State* L)
{
    lua_createtable(L, 0, 0);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_rawsetp(L, LUA_REGISTRYINDEX, const_cast<char*>(&kNullKeys));
}

} // namespace

void marks_open(lua_State* L)
{
    if (lua_getlightuserdataname(L, kNullTag))
        return;
    null_open(L);
    null_keys_open(L);
    exact_open(L);
}

bool is_array(lua_State* L, int idx)
{
    LuaTable* t = table_at(L, idx);
    return t && t->memcat == kArrayCategory;
}

LuaTable* new_marked_table(lua_State* L, int narray, int nhash, int category)
{
    CategoryScope scope(L, category);
    return luaH_new(L, narray, nhash);
}

void new_array(lua_State* L, int narr)
{
    CategoryScope scope(L, kArrayCategory);
    lua_createtable(L, narr, 0);
}

void mark_array(lua_State* L, int idx)
{
    if (LuaTable* t = table_at(L, idx))
        set_category(L, t, kArrayCategory);
}

void push_null(lua_State* L)
{
    lua_pushlightuserdatatagged(L, nullptr, kNullTag);
}

bool is_null(lua_State* L, int idx)
{
    return lua_lightuserdatatag(L, idx) == kNullTag;
}

void set_null_keys(lua_State* L, LuaTable* t, TString* const* keys, size_t count)
{
    TValue now = *null_keys_of(L, t);
    if (count == 0)
        return;
    if (count == 1 && ttisnil(&now))
    {
        setsvalue(L, &now, keys[0]);
    }
    else if (!ttistable(&now))
    {
        LuaTable* set = luaH_new(L, 0, int(count) + 1);
        if (ttisstring(&now))
            add_to_set(L, set, tsvalue(&now));
        sethvalue(L, &now, set);
    }
    if (ttistable(&now))
        for (size_t i = 0; i < count; i++)
            add_to_set(L, hvalue(&now), keys[i]);
    store_null_keys(L, t, &now);
    set_category(L, t, kNulledCategory);
}

void mark_null_key(lua_State* L, int table_idx, int key_idx)
{
    LuaTable* t = table_at(L, table_idx);
    const TValue* key = luaA_toobject(L, key_idx);
    if (!t || !key || !ttisstring(key))
        return;
    TString* name = tsvalue(key);
    set_null_keys(L, t, &name, 1);
}

bool omit_null_key(lua_State* L, int table_idx, int key_idx)
{
    LuaTable* t = table_at(L, table_idx);
    const TValue* key = luaA_toobject(L, key_idx);
    if (!t || !key || !ttisstring(key))
        return false;
    const TValue* keys = null_keys_of(L, t);
    if (!set_has(keys, tsvalue(key)))
        return false;
    if (ttistable(keys))
    {
        setnilvalue(luaH_setstr(L, hvalue(keys), tsvalue(key)));
        return true;
    }
    store_null_keys(L, t, luaO_nilobject);
    set_category(L, t, 0);
    return true;
}

bool is_null_key(lua_State* L, int table_idx, int key_idx)
{
    LuaTable* t = table_at(L, table_idx);
    const TValue* key = luaA_toobject(L, key_idx);
    return t && key && ttisstring(key) && set_has(null_keys_of(L, t), tsvalue(key)) &&
           ttisnil(luaH_getstr(t, tsvalue(key)));
}

void each_null_key(lua_State* L, LuaTable* t, void (*fn)(void* context, TString* key), void* context)
{
    const TValue* keys = null_keys_of(L, t);
    if (ttisstring(keys))
        return fn(context, tsvalue(keys));
    if (!ttistable(keys))
        return;
    LuaTable* set = hvalue(keys);
    for (int i = 0; i < sizenode(set); i++)
        if (LuaNode* n = gnode(set, i); ttisstring(gkey(n)) && !ttisnil(gval(n)))
            fn(context, tsvalue(gkey(n)));
}

void push_exact(lua_State* L, const char* digits, size_t size)
{
    memcpy(lua_newuserdatataggedwithmetatable(L, size, kExactTag), digits, size);
}

const char* to_exact(lua_State* L, int idx, size_t* size)
{
    void* data = lua_touserdatatagged(L, idx, kExactTag);
    if (data && size)
        *size = size_t(lua_objlen(L, idx));
    return static_cast<const char*>(data);
}

} // namespace hk
