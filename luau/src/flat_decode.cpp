// Flat values to Luau values.
#include "vm.h"

#include "marks.h"

#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "lstring.h"
#include "ltable.h"

namespace hk
{

namespace
{

constexpr uint32_t kMaxDigits = 1 << 20;

// Digits go into JSON as they are, so nothing else may be among them; and each number has one form.
bool is_exact(const char* p, uint32_t n)
{
    bool negative = n > 0 && p[0] == '-';
    const char* digits = p + negative;
    uint32_t count = n - negative;
    if (count < 19 || count > kMaxDigits || digits[0] == '0')
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (digits[i] < '0' || digits[i] > '9')
            return false;
    return count > 19 || memcmp(digits, negative ? "9223372036854775808" : "9223372036854775807", 19) > 0;
}

// Whether the running function is the __index of the table: a script that got hold of it may call it with any other.
bool belongs_to(lua_State* L, const LuaTable* t)
{
    if (!t->metatable)
        return false;
    const TValue* index = luaH_getstr(t->metatable, L->global->tmname[TM_INDEX]);
    return ttisfunction(index) && clvalue(index) == clvalue(L->ci->func);
}

// __index of a lazy table: asks the function for the field and keeps it.
int find_field(lua_State* L)
{
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_pushvalue(L, 2);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1) || !lua_istable(L, 1) || !belongs_to(L, hvalue(L->base)))
        return 1;
    // Past the read-only mark, which must hold also when there is no memory for the field.
    LuaTable* t = hvalue(L->base);
    setobj2t(L, luaH_set(L, t, L->base + 1), L->top - 1);
    luaC_barriert(L, t, L->top - 1);
    return 1;
}

class Decoder
{
public:
    Decoder(hk_vm* vm, lua_State* L, FlatIn& in, const char*& why) : vm(vm), L(L), in(in), why(why) {}

    bool value()
    {
        uint8_t tag;
        if (!in.take(&tag, 1))
            return fail("flat value: cut short");
        switch (tag)
        {
        case HK_T_NIL:
            lua_pushnil(L);
            return true;
        case HK_T_FALSE:
        case HK_T_TRUE:
            lua_pushboolean(L, tag == HK_T_TRUE);
            return true;
        case HK_T_NUMBER:
            return number();
        case HK_T_INTEGER:
            return integer();
        case HK_T_STRING:
            return text([](lua_State* L, const char* p, size_t n) { lua_pushlstring(L, p, n); });
        case HK_T_BUFFER:
            return text([](lua_State* L, const char* p, size_t n) { memcpy(lua_newbuffer(L, n), p, n); });
        case HK_T_EXACT:
            return exact();
        case HK_T_VECTOR:
            return vector();
        case HK_T_TABLE:
            return table();
        case HK_T_NUMBERS:
            return numbers();
        case HK_T_NULL:
            push_null(L);
            return true;
        case HK_T_REF:
            return reference();
        case HK_T_HOSTFN:
            return function();
        case HK_T_NATIVE:
            return native();
        case HK_T_ERROR:
            return error();
        default:
            return fail("flat value: unknown tag");
        }
    }

private:
    bool fail(const char* what)
    {
        why = what;
        return false;
    }

    bool number()
    {
        double n;
        if (!in.take(&n, 8))
            return fail("flat number: cut short");
        lua_pushnumber(L, n);
        return true;
    }

    bool integer()
    {
        int64_t n;
        if (!in.take(&n, 8))
            return fail("flat integer: cut short");
        lua_pushinteger64(L, n);
        return true;
    }

    bool vector()
    {
        float v[3];
        if (!in.take(v, 12))
            return fail("flat vector: cut short");
        lua_pushvector(L, v[0], v[1], v[2]);
        return true;
    }

    template<typename Push>
    bool text(Push push)
    {
        uint32_t n;
        if (!in.take(&n, 4) || in.left() < n)
            return fail("flat text: cut short");
        if (n > (uint32_t(1) << 30))
            return fail("flat text: longer than 1 GiB");
        const char* p = reinterpret_cast<const char*>(in.p);
        in.p += n;
        push(L, p, n);
        return true;
    }

    bool exact()
    {
        uint32_t n;
        if (!in.take(&n, 4) || in.left() < n)
            return fail("flat exact number: cut short");
        const char* p = reinterpret_cast<const char*>(in.p);
        if (!is_exact(p, n))
            return fail("flat exact number: not a whole number outside 64 bits, in decimal digits");
        in.p += n;
        push_exact(L, p, n);
        return true;
    }

    bool numbers()
    {
        uint32_t n;
        if (!in.take(&n, 4) || in.left() / 8 < n)
            return fail("flat numbers: cut short");
        luaL_checkstack(L, 4, "converting values");
        new_array(L, int(n));
        TValue* to = hvalue(L->top - 1)->array;
        for (uint32_t i = 0; i < n; i++)
        {
            double v;
            memcpy(&v, in.p + size_t(i) * 8, 8);
            setnvalue(&to[i], v);
        }
        in.p += size_t(n) * 8;
        return true;
    }

    bool table()
    {
        uint8_t flags;
        uint32_t narr, npairs;
        if (!in.take(&flags, 1) || !in.take(&narr, 4) || !in.take(&npairs, 4))
            return fail("flat table: cut short");
        // Each element takes a byte at least, so sizes cannot promise more than there is.
        if (narr > in.left() || npairs > in.left() / 2)
            return fail("flat table: cut short");
        if (depth >= HK_MAX_DEPTH)
            return fail("flat table: nesting deeper than 200 tables");
        check_kill(vm);
        depth++;
        luaL_checkstack(L, 6, "converting values");
        if (flags & HK_TABLE_ARRAY)
            new_array(L, int(narr));
        else
            lua_createtable(L, int(narr), int(npairs));
        bool ok = fill(narr, npairs);
        depth--;
        if (ok && (flags & (HK_TABLE_ERROR | HK_TABLE_FOLDED)))
            set_meta(flags & HK_TABLE_ERROR ? kErrorMeta : kFoldedMeta);
        if (ok && (flags & HK_TABLE_LAZY) && !make_lazy())
            return fail("flat table: a lazy one without its function");
        if (ok && (flags & (HK_TABLE_READONLY | HK_TABLE_LAZY)))
            lua_setreadonly(L, -1, true);
        return ok;
    }

    // The next value when it is a number, without the way over the stack.
    bool plain_number(double& n)
    {
        if (in.left() < 9 || *in.p != HK_T_NUMBER)
            return false;
        memcpy(&n, in.p + 1, 8);
        in.p += 9;
        return true;
    }

    // Moves the value on top into the table.
    void store(LuaTable* h, TValue* slot)
    {
        setobj2t(L, slot, L->top - 1);
        luaC_barriert(L, h, L->top - 1);
        L->top--;
    }

    bool fill(uint32_t narr, uint32_t npairs)
    {
        LuaTable* h = hvalue(L->top - 1); // stays on the stack, and objects do not move
        double n;
        for (uint32_t i = 0; i < narr; i++)
        {
            if (plain_number(n))
            {
                setnvalue(&h->array[i], n);
                continue;
            }
            if (!value())
                return false;
            store(h, &h->array[i]);
        }
        for (uint32_t i = 0; i < npairs; i++)
        {
            if (!key())
                return false;
            if (plain_number(n))
            {
                setnvalue(luaH_set(L, h, L->top - 1), n);
                L->top--;
            }
            else if (!pair(h))
                return false;
        }
        return true;
    }

    bool key()
    {
        if (!value())
            return false;
        const TValue* k = L->top - 1;
        return !(ttisnil(k) || (ttisnumber(k) && nvalue(k) != nvalue(k))) || fail("flat table: a key is nil or NaN");
    }

    // The key is on top, its value comes next.
    bool pair(LuaTable* h)
    {
        if (!value())
            return false;
        if (!ttisnil(L->top - 1))
        {
            store(h, luaH_set(L, h, L->top - 2));
            L->top--;
            return true;
        }
        lua_pop(L, 1);
        if (!ttisstring(L->top - 1))
            return fail("flat table: only a string key can be null");
        mark_null_key(L, -2, -1);
        lua_pop(L, 1);
        return true;
    }

    // Takes the function out of the table on top and lets it find what is missing.
    bool make_lazy()
    {
        lua_pushliteral(L, "");
        lua_rawget(L, -2);
        if (!lua_isfunction(L, -1))
            return false;
        leave_uncounted(clvalue(L->top - 1)); // a script that reads a field makes no host call
        lua_pushliteral(L, "");
        lua_pushnil(L);
        lua_rawset(L, -4);
        lua_createtable(L, 0, 2);
        lua_insert(L, -2);
        lua_pushcclosure(L, find_field, "index", 1);
        lua_rawsetfield(L, -2, "__index");
        lua_pushboolean(L, false);
        lua_rawsetfield(L, -2, "__metatable");
        lua_setreadonly(L, -1, true);
        lua_setmetatable(L, -2);
        return true;
    }

    void set_meta(FixedRef which)
    {
        lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[which]);
        lua_setmetatable(L, -2);
    }

    bool error()
    {
        // Looked at first: errors of errors would nest without a limit.
        if (in.left() == 0 || *in.p != HK_T_TABLE)
            return fail("flat error: not a table");
        if (!value())
            return false;
        if (lua_getreadonly(L, -1))
            return fail("flat error: the table is read-only");
        set_meta(kErrorMeta);
        keep_number();
        return true;
    }

    // The host's number for the error on top lies under the key "".
    void keep_number()
    {
        lua_pushliteral(L, "");
        lua_rawget(L, -2);
        if (lua_type(L, -1) == LUA_TNUMBER)
        {
            lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kErrorIds]);
            lua_pushvalue(L, -3);
            lua_pushvalue(L, -3);
            lua_rawset(L, -3);
            lua_pop(L, 1);
            lua_pushliteral(L, "");
            lua_pushnil(L);
            lua_rawset(L, -4);
        }
        lua_pop(L, 1);
    }

    bool reference()
    {
        uint8_t kind;
        hk_ref ref;
        if (!in.take(&kind, 1) || !in.take(&ref, 8))
            return fail("flat reference: cut short");
        luaL_checkstack(L, 2, "converting values");
        return push_ref(vm, L, ref) || fail("a value of another or an earlier VM");
    }

    bool function()
    {
        uint32_t id, n;
        uint8_t flags;
        if (!in.take(&id, 4) || !in.take(&flags, 1) || !in.take(&n, 4) || in.left() < n)
            return fail("flat function: cut short");
        if (!vm->hooks || !vm->hooks->call)
            return fail("flat function: the VM has no host to call");
        luaL_checkstack(L, 4, "converting values");
        push_host_function(L, id, flags, reinterpret_cast<const char*>(in.p), n);
        in.p += n;
        return true;
    }

    bool native()
    {
        uint32_t n;
        if (!in.take(&n, 4) || in.left() < n)
            return fail("flat native: cut short");
        lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kNatives]);
        lua_pushlstring(L, reinterpret_cast<const char*>(in.p), n);
        in.p += n;
        lua_rawget(L, -2);
        lua_remove(L, -2);
        return !lua_isnil(L, -1) ||
               fail("no built-in value of that name: there are json, json_encode, json_decode and json.<function>");
    }

    hk_vm* vm;
    lua_State* L;
    FlatIn& in;
    const char*& why;
    int depth = 0;
};

} // namespace

bool decode_value(hk_vm* vm, lua_State* L, FlatIn& in, const char*& why)
{
    luaL_checkstack(L, 4, "converting values");
    return Decoder(vm, L, in, why).value();
}

bool decode_values(hk_vm* vm, lua_State* L, FlatIn& in, const char*& why)
{
    if (in.count > in.left())
    {
        why = "flat values: fewer than said";
        return false;
    }
    luaL_checkstack(L, int(in.count) + 4, "converting values");
    for (uint32_t i = 0; i < in.count; i++)
        if (!Decoder(vm, L, in, why).value())
            return false;
    return true;
}

} // namespace hk
