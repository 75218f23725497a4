// The host's small reads and writes: globals, fields, values that stay in the VM.
#include "vm.h"

#include "lapi.h"
#include "lgc.h"
#include "lstate.h"

namespace hk
{

namespace
{

// Runs f on the current thread with the stack put back, and turns its failure into a result.
template<typename F>
hk_result operate(hk_vm* vm, const char* what, F f)
{
    if (vm->dead)
        return killed_result(vm);
    relieve(vm);
    lua_State* L = hk::current(vm);
    int top = lua_gettop(L);
    hk_result r = {};
    const char* why = nullptr;
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 8, what);
            f(L, r, why);
        }
    );
    if (status == kKilled)
        return killed_result(vm);
    if (status == LUA_ERRMEM)
        r = text_result(vm, HK_ERR_MEMORY, "%s: not enough memory", what);
    else if (status != 0)
        r = text_result(
            vm, HK_ERR_INVALID, "%s: %s", what, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "failed"
        );
    else if (why)
        r = text_result(vm, HK_ERR_INVALID, "%s: %s", what, why);
    lua_settop(L, top);
    return r;
}

void push_name(lua_State* L, const char* name, size_t size)
{
    if (size > (size_t(1) << 30))
        luaL_error(L, "the name is longer than 1 GiB");
    lua_pushlstring(L, name ? name : "", size);
}

// Stores the value on top under the key below it, in the table at idx. Loaded code may have read the
// globals already and kept what it found; where such a value changes, it must read again.
void store(lua_State* L, int idx)
{
    lua_pushvalue(L, -2);
    lua_rawget(L, idx);
    if (!lua_isnil(L, -1) && !lua_rawequal(L, -1, -2))
        lua_setsafeenv(L, LUA_GLOBALSINDEX, false);
    lua_pop(L, 1);
    lua_rawset(L, idx);
}

// The value on top as the result.
void give_top(hk_vm* vm, lua_State* L, hk_result& r, Keep keep)
{
    Buf& out = frame_of(vm).results;
    out.clear();
    std::string text;
    if (!encode_values(vm, L, lua_gettop(L), 1, keep, out, text))
    {
        r = text_result(vm, HK_ERR_CONVERT, "%s", text.c_str());
        return;
    }
    r = flat_result(out, 1);
}

} // namespace

} // namespace hk

using namespace hk;

extern "C" hk_result hk_get_global(hk_vm* vm, const char* name, size_t size)
{
    return operate(
        vm,
        "reading a global",
        [&](lua_State* L, hk_result& r, const char*&)
        {
            // Raw, for a script may have given its globals a metatable whose code never ends.
            push_name(L, name, size);
            lua_pushvalue(L, LUA_GLOBALSINDEX);
            TValue globals;
            sethvalue(L, &globals, vm->L->gt);
            luaA_pushvalue(L, &globals);
            lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kSealed]);
            int name = lua_gettop(L) - 3;
            for (int table = name + 1; table <= name + 3; table++)
            {
                lua_pushvalue(L, name);
                lua_rawget(L, table);
                if (!lua_isnil(L, -1) || table == name + 3)
                    return give_top(vm, L, r, kKeepObjects);
                lua_pop(L, 1);
            }
        }
    );
}

extern "C" hk_result hk_set_global(hk_vm* vm, const char* name, size_t size, const uint8_t* value, size_t value_size)
{
    return operate(
        vm,
        "setting a global",
        [&](lua_State* L, hk_result&, const char*& why)
        {
            FlatIn in(value, value_size, 1);
            lua_pushvalue(L, LUA_GLOBALSINDEX);
            push_name(L, name, size);
            if (decode_value(vm, L, in, why))
                store(L, lua_gettop(L) - 2);
        }
    );
}

static bool push_table(hk_vm* vm, lua_State* L, hk_ref table, const char*& why)
{
    if (table == 0)
        lua_pushvalue(L, LUA_GLOBALSINDEX);
    else if (!push_ref(vm, L, table))
        why = "the table belongs to another VM, or to one that was reset or released it";
    else if (!lua_istable(L, -1))
        why = "not a table";
    return !why;
}

extern "C" hk_result hk_get_field(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size)
{
    return operate(
        vm,
        "reading a field",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(key, key_size, 1);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            lua_rawget(L, -2);
            give_top(vm, L, r, kKeepObjects);
        }
    );
}

extern "C" hk_result hk_get_table(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size)
{
    return operate(
        vm,
        "reading a table",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(key, key_size, 1);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            lua_rawget(L, -2);
            if (!lua_istable(L, -1))
                why = "the field is no table";
            else
                r.thread = make_ref(vm, L, -1);
        }
    );
}

extern "C" hk_result hk_set_field(hk_vm* vm, hk_ref table, const uint8_t* pair, size_t pair_size)
{
    return operate(
        vm,
        "setting a field",
        [&](lua_State* L, hk_result&, const char*& why)
        {
            FlatIn in(pair, pair_size, 2);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            if (lua_isnil(L, -1))
                why = "the key is nil";
            else if (decode_value(vm, L, in, why))
                store(L, lua_gettop(L) - 2);
        }
    );
}

extern "C" hk_result hk_get_value(hk_vm* vm, hk_ref ref)
{
    return operate(
        vm,
        "reading a value",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            if (!push_ref(vm, L, ref))
                why = "the value belongs to another VM, or to one that was reset or released it";
            else
                give_top(vm, L, r, kCopy);
        }
    );
}

extern "C" hk_result hk_keep(hk_vm* vm, const uint8_t* value, size_t size)
{
    return operate(
        vm,
        "keeping a value",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(value, size, 1);
            if (!decode_value(vm, L, in, why))
                return;
            if (lua_isnil(L, -1))
                why = "nil cannot be kept";
            else
                r.thread = make_ref(vm, L, -1);
        }
    );
}

extern "C" void hk_collect(hk_vm* vm)
{
    operate(vm, "collecting", [&](lua_State* L, hk_result&, const char*&) { lua_gc(L, LUA_GCCOLLECT, 0); });
}
