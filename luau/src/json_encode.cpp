// Luau values to JSON text. It reads tables through their parts: no script can run meanwhile, and nothing is collected.
#include "json.h"
#include "raise.h"

#include "charge.h"
#include "json_lib.h"
#include "json_number.h"
#include "json_output.h"
#include "json_path.h"
#include "json_scratch.h"
#include "marks.h"

#include "lualib.h"

#include "Luau/Common.h"

#include "lapi.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"
#include "ltable.h"

#include <algorithm>
#include <math.h>
#include <stdio.h>

namespace hk
{

namespace
{

const long kWorkPerPoll = 4096;

struct Entry
{
    uint64_t prefix; // the key's first 8 bytes as a big-endian number: mostly all that sorting looks at
    const TString* key;
    const TValue* value;
};

bool less(const Entry& a, const Entry& b)
{
    if (a.prefix != b.prefix)
        return a.prefix < b.prefix;
    size_t common = std::min(a.key->len, b.key->len);
    int order = memcmp(getstr(a.key), getstr(b.key), common);
    return order ? order < 0 : a.key->len < b.key->len;
}

uint64_t prefix_of(const TString* key)
{
    uint64_t word = 0;
    if (key->len >= sizeof(word))
        word = load8(getstr(key));
    else if (key->len)
        word = last_bytes(getstr(key) + key->len, key->len);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

// Objects mostly have few keys, where this beats std::sort.
void sort_entries(Entry* first, size_t n)
{
    if (n > 24)
        return std::sort(first, first + n, less);
    for (size_t i = 1; i < n; i++)
    {
        Entry moving = first[i];
        size_t at = i;
        for (; at > 0 && less(moving, first[at - 1]); at--)
            first[at] = first[at - 1];
        first[at] = moving;
    }
}

class Encoder
{
public:
    // check_strings: each string by itself, to find the one that is not UTF-8.
    Encoder(lua_State* L, const char* name, ScratchUse& scratch, bool check_strings)
        : L(L), name(name), scratch(scratch), out(scratch), check_strings(check_strings)
    {
    }

    const Output& run(const TValue* root)
    {
        value(root);
        return out;
    }

private:
    lua_State* L;
    const char* name;
    ScratchUse& scratch;
    Output out;
    bool check_strings;
    size_t entries = 0; // in use
    long until_poll = kWorkPerPoll;
    int depth = 0;
    Step steps[kJsonMaxDepth];

    void work(long amount)
    {
        until_poll -= amount;
        if (LUAU_UNLIKELY(until_poll < 0))
        {
            until_poll = kWorkPerPoll;
            poll(L);
        }
    }

    LUAU_NOINLINE l_noret fail(const char* what)
    {
        std::string path = path_text(steps, size_t(depth));
        raise(L, "json", "%s: cannot encode %s at %s", name, what, path.c_str());
    }

    // About the table that is open, not about its current element.
    LUAU_NOINLINE l_noret fail_table(const char* what)
    {
        depth--;
        fail(what);
    }

    void value(const TValue* v)
    {
        work(1);
        switch (ttype(v))
        {
        case LUA_TNIL:
            return out.put("null", 4);
        case LUA_TBOOLEAN:
            return bvalue(v) ? out.put("true", 4) : out.put("false", 5);
        case LUA_TNUMBER:
            return number(nvalue(v));
        case LUA_TINTEGER:
            return out.commit(write_integer(out.room(kNumberRoom), lvalue(v)));
        case LUA_TSTRING:
            return string(tsvalue(v), false);
        case LUA_TTABLE:
            return table(hvalue(v));
        default:
            return other(v);
        }
    }

    void number(double n)
    {
        if (LUAU_UNLIKELY(!isfinite(n)))
            fail(n != n ? "NaN" : n > 0 ? "infinity" : "-infinity");
        out.commit(write_real(out.room(kNumberRoom), n));
    }

    void string(const TString* s, bool is_key)
    {
        if (LUAU_UNLIKELY(check_strings) && !valid_utf8(getstr(s), s->len))
            fail(is_key ? "a key that is not valid UTF-8" : "a string that is not valid UTF-8");
        out.string(getstr(s), s->len);
    }

    void other(const TValue* v)
    {
        if (ttislightuserdata(v) && lightuserdatatag(v) == kNullTag)
            return out.put("null", 4);
        if (ttisuserdata(v) && uvalue(v)->tag == kExactTag)
            return out.put(uvalue(v)->data, size_t(uvalue(v)->len));
        char what[160];
        snprintf(
            what,
            sizeof(what),
            "a %.60s (only nil, json.null, booleans, numbers, strings and tables)",
            luaT_objtypename(L, v)
        );
        fail(what);
    }

    void table(LuaTable* t)
    {
        if (depth == kJsonMaxDepth)
            fail_deep(t);
        for (int i = 0; i < depth; i++)
            if (LUAU_UNLIKELY(steps[i].table == t))
                fail("a cycle: a table that contains itself");
        steps[depth++] = {t, nullptr, 0};
        if (t->node == &luaH_dummynode && t->memcat != kNulledCategory)
            plain(t);
        else
            mixed(t);
        depth--;
    }

    LUAU_NOINLINE l_noret fail_deep(LuaTable* t)
    {
        for (int i = 0; i < depth; i++)
            if (steps[i].table == t)
                fail("a cycle: a table that contains itself");
        fail("more than 200 levels");
    }

    // A table without a hash part.
    void plain(LuaTable* t)
    {
        int n = array_length(t);
        if (n || t->memcat == kArrayCategory)
            return array(t, n);
        out.put("{}", 2);
    }

    int array_length(LuaTable* t)
    {
        int n = 0;
        while (n < t->sizearray && !ttisnil(&t->array[n]))
            n++;
        for (int i = n; i < t->sizearray; i++)
            if (!ttisnil(&t->array[i]))
                fail_hole(n + 1, i + 1);
        work(t->sizearray - n);
        return n;
    }

    LUAU_NOINLINE l_noret fail_hole(int missing, double present)
    {
        char number[kNumberRoom + 1] = {};
        write_real(number, present);
        char what[160];
        snprintf(
            what,
            sizeof(what),
            "an array with holes (element %d is nil, %s is not; json.null keeps a place)",
            missing,
            number
        );
        fail_table(what);
    }

    void array(LuaTable* t, int n)
    {
        out.put('[');
        for (int i = 0; i < n; i++)
        {
            if (i)
                out.put(',');
            steps[depth - 1].index = i + 1;
            // The array part may end before the array does.
            value(i < t->sizearray ? &t->array[i] : luaH_getnum(t, i + 1));
        }
        out.put(']');
    }

    // A table with a hash part: an object, or the end of an array.
    void mixed(LuaTable* t)
    {
        size_t base = entries;
        int numbers = collect(t);
        size_t count = entries - base;
        int n = array_length(t);
        if (count == 0 && n == 0 && numbers == 0 && t->memcat != kArrayCategory)
            out.put("{}", 2);
        else if (count == 0)
            array(t, n + (numbers ? array_end(t, n, numbers) : 0));
        else if (n || numbers)
            fail_table("a table with both array elements and string keys");
        else if (t->memcat == kArrayCategory)
            fail_table("an array with string keys");
        else
            object(base, count);
        entries = base;
    }

    // Puts the string keys aside and returns the number of numeric ones.
    int collect(LuaTable* t)
    {
        int numbers = 0;
        int size = sizenode(t);
        work(size);
        for (int i = 0; i < size; i++)
        {
            LuaNode* n = gnode(t, i);
            if (ttisnil(gval(n)))
                continue;
            if (LUAU_LIKELY(ttisstring(gkey(n))))
                add(tsvalue(gkey(n)), gval(n));
            else if (ttisnumber(gkey(n)))
                numbers++;
            else
                fail_key(n);
        }
        if (t->memcat == kNulledCategory)
            each_null_key(L, t, add_null, this);
        return numbers;
    }

    LUAU_NOINLINE l_noret fail_key(const LuaNode* n)
    {
        TValue key;
        getnodekey(L, &key, n);
        char what[128];
        snprintf(
            what,
            sizeof(what),
            "a table with a key of type %.40s (only strings, or numbers from 1)",
            luaT_objtypename(L, &key)
        );
        fail_table(what);
    }

    static void add_null(void* self, TString* key)
    {
        auto e = static_cast<Encoder*>(self);
        if (ttisnil(luaH_getstr(const_cast<LuaTable*>(e->steps[e->depth - 1].table), key)))
            e->add(key, luaO_nilobject);
    }

    void add(const TString* key, const TValue* v)
    {
        if (LUAU_UNLIKELY((entries + 1) * sizeof(Entry) > scratch->order.size()))
            scratch.grow(scratch->order, (entries + 1) * sizeof(Entry));
        all()[entries++] = {prefix_of(key), key, v};
    }

    Entry* all() const
    {
        return reinterpret_cast<Entry*>(scratch->order.data());
    }

    // Numeric keys in the hash part are fine when they go on where the array part ends; never walks up to a far key.
    int array_end(LuaTable* t, int n, int numbers)
    {
        double far = 0;
        for (int i = 0; i < sizenode(t); i++)
            if (LuaNode* node = gnode(t, i); ttisnumber(gkey(node)) && !ttisnil(gval(node)))
            {
                double key = node->key.value.n;
                if (key < 1 || key != floor(key) || isinf(key))
                    fail_number_key(key);
                far = std::max(far, key);
            }
        int missing = n + 1;
        while (!ttisnil(luaH_getnum(t, missing)))
            missing++;
        if (far > n + double(numbers))
            fail_hole(missing, far);
        return numbers;
    }

    LUAU_NOINLINE l_noret fail_number_key(double key)
    {
        char number[kNumberRoom + 1] = {};
        if (isfinite(key))
            write_real(number, key);
        else
            strcpy(number, "infinity");
        char what[128];
        snprintf(what, sizeof(what), "a table with key %s (only strings, or whole numbers from 1)", number);
        fail_table(what);
    }

    void object(size_t base, size_t count)
    {
        sort_entries(all() + base, count);
        out.put('{');
        for (size_t i = base; i < base + count; i++)
        {
            Entry e = all()[i];
            if (i > base)
                out.put(',');
            steps[depth - 1].key = e.key;
            string(e.key, true);
            out.put(':');
            value(e.value);
        }
        out.put('}');
    }
};

void encode(lua_State* L, void* context)
{
    const char* name = static_cast<const char*>(context);
    const TValue* root = luaA_toobject(L, 1);
    ScratchUse scratch(L);
    Encoder encoder(L, name, scratch, false);
    const Output& out = encoder.run(root);
    if (!out.ascii() && !valid_utf8(out.data(), out.size()))
        Encoder(L, name, scratch, true).run(root);
    lua_pushlstring(L, out.data(), out.size());
}

} // namespace

int json_encode(lua_State* L)
{
    const char* name = function_name(L);
    if (lua_isnone(L, 1))
        raise(L, "invalid_argument", "%s: argument 1 is missing", name);
    run_with_retry(L, encode, const_cast<char*>(name));
    return 1;
}

} // namespace hk
