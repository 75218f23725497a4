// JSON text to Luau values. simdjson finds the tokens; one pass over them builds the tables. Values whose container is
// still open wait on a stack of our own, so each table is made once, in its final size. No collection can run between
// the first value and the last, and so nothing needs to be anchored and nothing a write barrier.
#include "json.h"
#include "raise.h"

#include "charge.h"
#include "json_bytes.h"
#include "json_fault.h"
#include "json_lib.h"
#include "json_number.h"
#include "json_scratch.h"
#include "json_unescape.h"
#include "marks.h"

#include "lualib.h"

#include "lapi.h"
#include "ldo.h"
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

// Strings are interned with a hash that a sender can collide on purpose: this many are slow at worst, not endless.
const int kValuesPerPoll = 256;
const size_t kArrayLimit = size_t(1) << 26; // of Luau's tables

class Decoder
{
public:
    Decoder(lua_State* L, ScratchUse& scratch, const uint8_t* text, size_t size)
        : L(L)
        , scratch(scratch)
        , text(text)
        , size(size)
        , bottom(values())
        , top(bottom)
        , limit(bottom + scratch->values.size() / sizeof(TValue))
    {
    }

    // false: not JSON.
    bool run(TValue* result)
    {
        scratch.index(size);
        if (!scratch->tokens.read(text, size))
            return false;
        next = scratch->tokens.offsets();
        const uint32_t* end = next + scratch->tokens.count();
        if (!value(0) || next != end)
            return false;
        *result = *--top;
        return true;
    }

private:
    lua_State* L;
    ScratchUse& scratch;
    const uint8_t* text;
    size_t size;
    const uint32_t* next = nullptr;
    TValue* bottom;
    TValue* top;
    TValue* limit;
    int until_poll = kValuesPerPoll;

    TValue* values() const
    {
        return reinterpret_cast<TValue*>(scratch->values.data());
    }

    TValue* push()
    {
        if (LUAU_UNLIKELY(top == limit))
            grow();
        return top++;
    }

    LUAU_NOINLINE void grow()
    {
        size_t used = size_t(top - bottom);
        scratch.grow(scratch->values, (used + 1) * sizeof(TValue));
        bottom = values();
        top = bottom + used;
        limit = bottom + scratch->values.size() / sizeof(TValue);
    }

    bool value(int depth)
    {
        if (LUAU_UNLIKELY(--until_poll == 0))
        {
            until_poll = kValuesPerPoll;
            poll(L);
        }
        const uint8_t* p = text + *next++;
        switch (*p)
        {
        case '"':
            return string(p);
        case '{':
            return object(depth + 1);
        case '[':
            return array(depth + 1);
        case 't':
            if (!word(p, "true", 4))
                return false;
            setbvalue(push(), 1);
            return true;
        case 'f':
            if (!word(p, "false", 5))
                return false;
            setbvalue(push(), 0);
            return true;
        case 'n':
            if (!word(p, "null", 4))
                return false;
            setnilvalue(push());
            return true;
        default:
            return number(p);
        }
    }

    // Whether a word or a number may end before this byte. simdjson gives no token for what follows one without a gap.
    bool ends(const uint8_t* p) const
    {
        uint8_t c = *p;
        return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || p == text + size;
    }

    bool word(const uint8_t* p, const char* expected, size_t n) const
    {
        return size_t(text + size - p) >= n && memcmp(p, expected, n) == 0 && ends(p + n);
    }

    bool number(const uint8_t* p)
    {
        Number n = read_number(p, text + size);
        if (!ends(n.end))
            return false;
        switch (n.kind)
        {
        case NumberKind::real:
            setnvalue(push(), n.real);
            return true;
        case NumberKind::integer:
            setlvalue(push(), n.integer);
            return true;
        case NumberKind::exact:
            return exact(p, size_t(n.end - p));
        default:
            return false;
        }
    }

    bool exact(const uint8_t* p, size_t n)
    {
        Udata* u = luaU_newudata(L, n, kExactTag);
        u->metatable = L->global->udatamt[kExactTag];
        memcpy(u->data, p, n);
        setuvalue(L, push(), u);
        return true;
    }

    // The bytes between the quotes. They end where the next token begins, but for space.
    bool inside(const uint8_t* quote, const uint8_t** first, size_t* n) const
    {
        const uint8_t* last = text + *next - 1;
        while (*last == ' ' || *last == '\n' || *last == '\r' || *last == '\t')
            last--;
        if (*last != '"' || last == quote)
            return false;
        *first = quote + 1;
        *n = size_t(last - quote - 1);
        return true;
    }

    bool string(const uint8_t* quote)
    {
        const uint8_t* first;
        size_t n;
        if (!inside(quote, &first, &n))
            return false;
        TString* s = intern(first, n);
        if (!s)
            return false;
        setsvalue(L, push(), s);
        return true;
    }

    bool has_escape(const uint8_t* p, size_t n) const
    {
        if (n > 64)
            return memchr(p, '\\', n);
        const uint8_t* end = p + n;
        for (; end - p >= 8; p += 8)
            if (bytes_equal(load8(p), '\\'))
                return true;
        for (; p < end; p++)
            if (*p == '\\')
                return true;
        return false;
    }

    TString* intern(const uint8_t* first, size_t n)
    {
        if (LUAU_UNLIKELY(has_escape(first, n)))
        {
            scratch.grow(scratch->text, n);
            char* plain = scratch->text.data();
            return unescape(first, n, plain, &n) ? luaS_newlstr(L, plain, n) : nullptr;
        }
        return luaS_newlstr(L, reinterpret_cast<const char*>(first), n);
    }

    TString* key(const uint8_t* quote)
    {
        const uint8_t* first;
        size_t n;
        if (*quote != '"' || !inside(quote, &first, &n))
            return nullptr;
        if (n - 1 >= 16 || first + 8 > text + size)
            return intern(first, n);
        uint64_t head = load8(first);
        uint64_t tail = 0;
        if (n < 8)
            head &= first_bytes(n);
        else
            tail = load8(first + n - 8);
        if (bytes_equal(head, '\\') | bytes_equal(tail, '\\'))
            return intern(first, n);
        return recent_key(first, n, head, tail);
    }

    TString* recent_key(const uint8_t* first, size_t n, uint64_t head, uint64_t tail)
    {
        uint64_t mixed = (head ^ (tail << 1) ^ n) * 0x9e3779b97f4a7c15;
        RecentKey& slot = scratch->recent[mixed >> 57];
        if (slot.call == scratch->call && slot.head == head && slot.tail == tail && slot.size == n)
            return slot.string;
        TString* s = luaS_newlstr(L, reinterpret_cast<const char*>(first), n);
        slot = {head, tail, s, scratch->call, uint32_t(n)};
        return s;
    }

    bool array(int depth)
    {
        size_t base = size_t(top - bottom);
        if (depth > kJsonMaxDepth)
            return false;
        if (text[*next] == ']')
        {
            next++;
            return close_array(base);
        }
        for (;;)
        {
            if (!value(depth))
                return false;
            if (ttisnil(top - 1))
                setpvalue(top - 1, nullptr, kNullTag);
            uint8_t c = text[*next++];
            if (c == ']')
                return close_array(base);
            if (c != ',')
                return false;
        }
    }

    bool close_array(size_t base)
    {
        size_t n = size_t(top - bottom) - base;
        if (n > kArrayLimit)
            raise(L, "limit", "array of more than %d elements", int(kArrayLimit));
        LuaTable* t = new_marked_table(L, 0, 0, kArrayCategory);
        if (n)
        {
            t->array = luaM_newarray(L, n, TValue, t->memcat);
            t->sizearray = int(n);
            memcpy(t->array, bottom + base, n * sizeof(TValue));
        }
        top = bottom + base;
        sethvalue(L, push(), t);
        return true;
    }

    bool object(int depth)
    {
        size_t base = size_t(top - bottom);
        if (depth > kJsonMaxDepth)
            return false;
        if (text[*next] == '}')
        {
            next++;
            return close_object(base);
        }
        for (;;)
        {
            TString* name = key(text + *next++);
            if (!name || text[*next++] != ':')
                return false;
            setsvalue(L, push(), name);
            if (!value(depth))
                return false;
            uint8_t c = text[*next++];
            if (c == '}')
                return close_object(base);
            if (c != ',')
                return false;
        }
    }

    bool close_object(size_t base)
    {
        TValue* pairs = bottom + base;
        size_t count = size_t(top - pairs) / 2;
        size_t present = 0;
        for (TValue* p = pairs; p < top; p += 2)
            present += !ttisnil(p + 1);
        LuaTable* t = new_object(pairs, present);
        if (count != present)
            mark_nulls(t, pairs);
        top = bottom + base;
        sethvalue(L, push(), t);
        return true;
    }

    LuaTable* new_object(TValue* pairs, size_t present)
    {
        LuaTable* t = luaH_new(L, 0, int(present < kArrayLimit ? present : kArrayLimit + 1));
        t->tmcache = 0; // some key may be the name of a metamethod
        for (TValue* p = pairs; p < top; p += 2)
        {
            if (!ttisnil(p + 1))
                *slot(t, tsvalue(p)) = p[1];
            else if (present)
                drop(t, tsvalue(p));
        }
        return t;
    }

    // In a table that never lost a key, an empty main position means the key is not there.
    TValue* slot(LuaTable* t, TString* name)
    {
        LuaNode* n = gnode(t, lmod(name->hash, sizenode(t)));
        if (LUAU_UNLIKELY(!ttisnil(gkey(n))))
            return luaH_setstr(L, t, name);
        n->key.value.gc = reinterpret_cast<GCObject*>(name);
        n->key.tt = LUA_TSTRING;
        return gval(n);
    }

    // A null after a value of the same key: the last one counts.
    void drop(LuaTable* t, TString* name)
    {
        const TValue* old = luaH_getstr(t, name);
        if (!ttisnil(old))
            setnilvalue(const_cast<TValue*>(old));
    }

    void mark_nulls(LuaTable* t, TValue* pairs)
    {
        for (TValue* p = pairs; p < top; p += 2)
        {
            TString* name = tsvalue(p);
            if (ttisnil(p + 1) && ttisnil(luaH_getstr(t, name)))
                set_null_keys(L, t, &name, 1);
        }
    }
};

struct Call
{
    const char* name;
    const TString* text;
    TValue result;
};

const uint8_t* bytes_of(const TString* s)
{
    return reinterpret_cast<const uint8_t*>(getstr(s));
}

l_noret raise_fault(lua_State* L, const Call& call, size_t skipped)
{
    Fault fault;
    const uint8_t* text = bytes_of(call.text);
    find_fault(text + skipped, call.text->len - skipped, kJsonMaxDepth, fault);
    size_t at = fault.at + skipped;
    Place place = place_of(text + skipped, fault.at);
    raise(
        L, "json", "%s: %s at byte %zu (line %zu, column %zu)", call.name, fault.what, at + 1, place.line, place.column
    );
}

size_t byte_order_mark(const TString* s)
{
    return s->len >= 3 && memcmp(getstr(s), "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

void decode(lua_State* L, void* context)
{
    Call& call = *static_cast<Call*>(context);
    size_t skipped = byte_order_mark(call.text);
    bool ok;
    {
        ScratchUse scratch(L);
        ok = Decoder(L, scratch, bytes_of(call.text) + skipped, call.text->len - skipped).run(&call.result);
    }
    if (!ok)
        raise_fault(L, call, skipped);
}

} // namespace

int json_decode(lua_State* L)
{
    const char* name = function_name(L);
    if (lua_isbuffer(L, 1))
    {
        size_t size;
        const void* data = lua_tobuffer(L, 1, &size);
        lua_pushlstring(L, static_cast<const char*>(data), size);
        lua_replace(L, 1);
    }
    if (lua_type(L, 1) != LUA_TSTRING)
        raise(L, "invalid_argument", "%s: argument 1 must be a string, got %s", name, luaL_typename(L, 1));
    Call call = {name, tsvalue(luaA_toobject(L, 1)), {}};
    run_with_retry(L, decode, &call);
    luaC_threadbarrier(L);
    luaA_pushvalue(L, &call.result);
    luaC_checkGC(L);
    return 1;
}

} // namespace hk
