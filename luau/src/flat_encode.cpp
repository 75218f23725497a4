// Luau values to flat values.
#include "vm.h"

#include "marks.h"

#include "lapi.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

namespace hk
{

namespace
{

// Size above which one crossing is refused: lengths are 32 bits wide.
constexpr size_t kMaxFlat = size_t(1) << 31;

// What tables cost a host such as Go, in bytes: about.
constexpr size_t kTableCost = 64, kElementCost = 24, kPairCost = 48;

class Encoder
{
public:
    Encoder(hk_vm* vm, lua_State* L, Keep keep, Buf& out, std::string& why)
        : vm(vm), L(L), keep(keep), out(out), why(why)
    {
    }

    bool value(const TValue* o)
    {
        switch (ttype(o))
        {
        case LUA_TNIL:
            return put(out.put_u8(HK_T_NIL));
        case LUA_TBOOLEAN:
            return put(out.put_u8(bvalue(o) ? HK_T_TRUE : HK_T_FALSE));
        case LUA_TNUMBER:
        {
            double n = nvalue(o);
            return put(out.put_tagged(HK_T_NUMBER, &n, 8));
        }
        case LUA_TINTEGER:
        {
            int64_t n = lvalue(o);
            return put(out.put_tagged(HK_T_INTEGER, &n, 8));
        }
        case LUA_TVECTOR:
            return put(out.put_tagged(HK_T_VECTOR, vvalue(o), 12));
        case LUA_TSTRING:
            return put(out.put_text(HK_T_STRING, svalue(o), tsvalue(o)->len));
        case LUA_TBUFFER:
            return put(out.put_text(HK_T_BUFFER, bufvalue(o)->data, bufvalue(o)->len));
        case LUA_TTABLE:
            return table(hvalue(o));
        default:
            return object(o);
        }
    }

private:
    bool fail(const char* what)
    {
        if (why.empty())
            why = what;
        return false;
    }

    bool put(bool ok)
    {
        return ok ? true : fail("not enough memory to convert the value");
    }

    // A key as people can read it: at most 40 bytes, control characters escaped.
    static std::string shown(const char* s, size_t size)
    {
        std::string text;
        for (size_t i = 0; i < size && i < 40; i++)
        {
            char escaped[8];
            snprintf(escaped, sizeof(escaped), "\\x%02x", uint8_t(s[i]));
            text += uint8_t(s[i]) < 0x20 || s[i] == 0x7f ? std::string(escaped) : std::string(1, s[i]);
        }
        return size > 40 ? text + "..." : text;
    }

    // Counts what the host will need for its side of a table. Without it, a few shared tables that
    // hold each other many times would fill the host's memory before this side's limit is reached.
    bool spend(size_t bytes)
    {
        spent += bytes;
        return spent <= vm->memoryLimit || fail("too large to convert within the memory limit");
    }

    // Prepends one step to the path while an error travels outwards.
    bool at(const TValue* key)
    {
        std::string step;
        if (ttisstring(key))
            step = "." + shown(svalue(key), tsvalue(key)->len);
        else if (ttisnumber(key))
        {
            char buf[40];
            snprintf(buf, sizeof(buf), "[%.14g]", nvalue(key));
            step = buf;
        }
        path = step + path;
        return false;
    }

public:
    bool object(const TValue* o)
    {
        luaA_pushvalue(L, o);
        bool ok = pushed_object(ttype(o));
        lua_pop(L, 1);
        return ok;
    }

private:
    bool pushed_object(int type)
    {
        if (is_null(L, -1))
            return put(out.put_u8(HK_T_NULL));
        size_t size = 0;
        if (const char* digits = to_exact(L, -1, &size))
            return put(out.put_text(HK_T_EXACT, digits, size));
        if (keep == kDescribe)
            return describe(type);
        if (keep == kCopy)
        {
            why = std::string("cannot convert a ") + lua_typename(L, type);
            return false;
        }
        uint8_t kind = type == LUA_TFUNCTION ? HK_REF_FUNCTION
                       : type == LUA_TTHREAD ? HK_REF_THREAD
                       : type == LUA_TTABLE  ? HK_REF_TABLE
                                             : HK_REF_OTHER;
        uint8_t rec[9] = {kind};
        hk_ref ref = make_ref(vm, L, -1);
        out.note_ref(ref);
        memcpy(rec + 1, &ref, 8);
        return put(out.put_tagged(HK_T_REF, rec, 9));
    }

    bool describe(int type)
    {
        std::string text = std::string("<") + lua_typename(L, type) + ">";
        return put(out.put_text(HK_T_STRING, text.data(), text.size()));
    }

    bool key(const TValue* k)
    {
        switch (ttype(k))
        {
        case LUA_TSTRING:
        case LUA_TNUMBER:
        case LUA_TBOOLEAN:
        case LUA_TINTEGER:
            return value(k);
        default:
            if (keep == kDescribe)
                return describe(ttype(k));
            why = std::string("cannot convert a table key of type ") + lua_typename(L, ttype(k));
            return false;
        }
    }

    bool table(LuaTable* h)
    {
        // Long tables of tables must not outlive the run's deadline.
        check_kill(vm);
        if (depth >= HK_MAX_DEPTH)
            return keep == kDescribe ? describe(LUA_TTABLE) : fail("nesting deeper than 200 tables");
        for (int i = depth; i > 0; i--)
            if (parents[i - 1] == h)
                return keep == kDescribe ? describe(LUA_TTABLE) : fail("a table that contains itself");
        if (out.size() > kMaxFlat)
            return fail("more than 2 GiB in one value");
        if (!spend(kTableCost))
            return false;
        parents[depth++] = h;
        bool ok = h->node == &luaH_dummynode && numbers(h);
        if (!ok && why.empty())
            ok = fields(h);
        depth--;
        return ok;
    }

    // The compact form; false with `why` empty when the table is not one for it.
    bool numbers(LuaTable* h)
    {
        uint32_t n = uint32_t(luaH_getn(h));
        if (n == 0 || n > uint32_t(h->sizearray) || !ttisnumber(&h->array[0]) || !ttisnumber(&h->array[n - 1]))
            return false;
        for (uint32_t i = n; i < uint32_t(h->sizearray); i++)
            if (!ttisnil(&h->array[i]))
                return false;
        size_t start = out.size();
        if (!out.reserve(start + 5 + size_t(n) * 8))
            return put(false);
        out.put_tagged(HK_T_NUMBERS, &n, 4);
        uint8_t* p = out.data() + out.size();
        for (const TValue *v = h->array, *end = v + n; v != end; v++, p += 8)
        {
            if (!ttisnumber(v))
            {
                out.resize(start);
                return false;
            }
            memcpy(p, &v->value.n, 8);
        }
        out.resize(out.size() + size_t(n) * 8);
        return spend(n * kElementCost);
    }

    bool fields(LuaTable* h)
    {
        uint32_t narr = uint32_t(luaH_getn(h));
        uint8_t head[9] = {uint8_t(h->memcat == kArrayCategory ? HK_TABLE_ARRAY : 0)};
        if (h->metatable && h->metatable == error_meta())
            head[0] |= HK_TABLE_ERROR;
        if (h->readonly)
            head[0] |= HK_TABLE_READONLY;
        memcpy(head + 1, &narr, 4);
        if (!put(out.put_tagged(HK_T_TABLE, head, 9)))
            return false;
        if (!spend(narr * kElementCost))
            return false;
        size_t pairsAt = out.size() - 4;
        for (uint32_t i = 0; i < narr; i++)
        {
            const TValue* v = i < uint32_t(h->sizearray) ? &h->array[i] : luaH_getnum(h, int(i) + 1);
            if (!value(v))
            {
                TValue k;
                setnvalue(&k, i + 1);
                return at(&k);
            }
        }
        uint32_t pairs = 0;
        if (!rest_of_array(h, narr, pairs) || !hash_part(h, narr, pairs) || !null_keys(h, pairs))
            return false;
        memcpy(out.data() + pairsAt, &pairs, 4);
        return true;
    }

    bool pair(const TValue* k, const TValue* v, uint32_t& pairs)
    {
        pairs++;
        return spend(kPairCost) && key(k) && (value(v) || at(k));
    }

    // Values in the array part behind a hole.
    bool rest_of_array(LuaTable* h, uint32_t narr, uint32_t& pairs)
    {
        for (uint32_t i = narr; i < uint32_t(h->sizearray); i++)
        {
            if (ttisnil(&h->array[i]))
                continue;
            TValue k;
            setnvalue(&k, i + 1);
            if (!pair(&k, &h->array[i], pairs))
                return false;
        }
        return true;
    }

    bool hash_part(LuaTable* h, uint32_t narr, uint32_t& pairs)
    {
        if (h->node == &luaH_dummynode)
            return true;
        int n = sizenode(h);
        for (int i = 0; i < n; i++)
        {
            LuaNode* node = gnode(h, i);
            if (ttisnil(gval(node)))
                continue;
            TValue k;
            getnodekey(L, &k, node);
            if (ttisnumber(&k) && nvalue(&k) >= 1 && nvalue(&k) <= narr && nvalue(&k) == double(uint32_t(nvalue(&k))))
                continue; // written with the array
            if (!pair(&k, gval(node), pairs))
                return false;
        }
        return true;
    }

    struct NullKeys
    {
        Encoder& encoder;
        LuaTable* table;
        uint32_t count;
        bool ok;
    };

    static void null_key(void* context, TString* name)
    {
        NullKeys& keys = *static_cast<NullKeys*>(context);
        if (!keys.ok || !ttisnil(luaH_getstr(keys.table, name)))
            return;
        Encoder& e = keys.encoder;
        keys.count++;
        keys.ok = e.put(e.out.put_text(HK_T_STRING, getstr(name), name->len)) && e.put(e.out.put_u8(HK_T_NIL));
    }

    bool null_keys(LuaTable* h, uint32_t& pairs)
    {
        if (h->memcat != kNulledCategory)
            return true;
        NullKeys keys{*this, h, 0, true};
        each_null_key(L, h, null_key, &keys);
        pairs += keys.count;
        return keys.ok;
    }

    const LuaTable* error_meta()
    {
        if (!meta)
        {
            lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kErrorMeta]);
            meta = hvalue(L->top - 1);
            lua_pop(L, 1);
        }
        return meta;
    }

public:
    std::string path;

private:
    hk_vm* vm;
    lua_State* L;
    Keep keep;
    Buf& out;
    std::string& why;
    const LuaTable* meta = nullptr;
    const LuaTable* parents[HK_MAX_DEPTH];
    int depth = 0;
    size_t spent = 0;
};

} // namespace

bool encode_values(hk_vm* vm, lua_State* L, int first, int count, Keep keep, Buf& out, std::string& why)
{
    size_t start = out.size();
    luaL_checkstack(L, 8, "converting values");
    Encoder e(vm, L, keep, out, why);
    for (int i = 0; i < count; i++)
    {
        // Copied: pushing references may move the stack.
        TValue v = *luaA_toobject(L, first + i);
        bool whole = keep == kKeepTables && (ttistable(&v) || ttisbuffer(&v));
        if (whole ? e.object(&v) : e.value(&v))
            continue;
        if (!e.path.empty() || count > 1)
            why += " at " + (count > 1 ? "value " + std::to_string(i + 1) + " " : std::string()) + "$" + e.path;
        out.resize(start);
        return false;
    }
    return true;
}

} // namespace hk
