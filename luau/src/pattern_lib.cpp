// string.find, match, gmatch and gsub: Luau's own results, with safe points.
#include "pattern_lib.h"

#include "charge.h"

#include "pattern.h"
#include "vm.h"

#include <ctype.h>
#include <string.h>

namespace hk
{

namespace
{

// Replacements, and characters of their texts, between two looks for a kill.
constexpr int kPerPoll = 1024;

struct Text
{
    const char* at;
    size_t size;
};

Text text_argument(lua_State* L, int i)
{
    Text t;
    t.at = luaL_checklstring(L, i, &t.size);
    return t;
}

struct SpecialBytes
{
    bool is[256] = {};
    constexpr SpecialBytes()
    {
        for (const char* c = "^$*+?.([%-"; *c; c++)
            is[uint8_t(*c)] = true;
    }
};

bool is_literal(Text p)
{
    static constexpr SpecialBytes special;
    for (size_t i = 0; i < p.size; i++)
        if (special.is[uint8_t(p.at[i])])
            return false;
    return true;
}

// Where a search begins by its third argument; false when that is behind the text.
bool start_of(lua_State* L, Text s, size_t& start)
{
    int64_t init = luaL_optinteger(L, 3, 1);
    if (init < 0)
        init = size_t(-init) > s.size ? 0 : int64_t(s.size) + init + 1;
    if (init < 1)
        init = 1;
    start = size_t(init) - 1;
    return start <= s.size;
}

int none(lua_State* L)
{
    lua_pushnil(L);
    return 1;
}

int push_range(lua_State* L, Text s, const char* from, const char* to)
{
    lua_pushinteger(L, int(from - s.at) + 1);
    lua_pushinteger(L, int(to - s.at));
    return 2;
}

int search(lua_State* L, Text s, Text p, size_t start, bool find)
{
    bool anchored = p.size > 0 && p.at[0] == '^';
    Matcher m(L, s.at, s.size, p.at + anchored, p.size - anchored);
    const char* from = s.at + start;
    do
    {
        const char* to = m.match_at(from);
        if (to)
            return find ? push_range(L, s, from, to) + m.push_captures(nullptr, nullptr) : m.push_captures(from, to);
    }
    while (from++ < s.at + s.size && !anchored);
    return none(L);
}

int find(lua_State* L)
{
    Text s = text_argument(L, 1), p = text_argument(L, 2);
    size_t start;
    if (!start_of(L, s, start))
        return none(L);
    if (!lua_toboolean(L, 4) && !is_literal(p))
        return search(L, s, p, start, true);
    const char* at = find_text(s.at + start, s.at + s.size, p.at, p.size);
    return at ? push_range(L, s, at, at + p.size) : none(L);
}

int match(lua_State* L)
{
    Text s = text_argument(L, 1), p = text_argument(L, 2);
    size_t start;
    return start_of(L, s, start) ? search(L, s, p, start, false) : none(L);
}

int next_match(lua_State* L)
{
    Text s, p;
    s.at = lua_tolstring(L, lua_upvalueindex(1), &s.size);
    p.at = lua_tolstring(L, lua_upvalueindex(2), &p.size);
    Matcher m(L, s.at, s.size, p.at, p.size);
    for (const char* from = s.at + lua_tointeger(L, lua_upvalueindex(3)); from <= s.at + s.size; from++)
    {
        const char* to = m.match_at(from);
        if (!to)
            continue;
        lua_pushinteger(L, int(to - s.at) + (to == from)); // an empty one goes on by one place
        lua_replace(L, lua_upvalueindex(3));
        return m.push_captures(from, to);
    }
    return 0;
}

int gmatch(lua_State* L)
{
    text_argument(L, 1);
    text_argument(L, 2);
    lua_settop(L, 2);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, next_match, nullptr, 3);
    return 1;
}

class Replacer
{
public:
    Replacer(lua_State* L, Matcher& m, luaL_Strbuf& out) : L(L), m(m), out(out), type(lua_type(L, 3))
    {
        if (type == LUA_TFUNCTION || type == LUA_TTABLE)
            return;
        text.at = lua_tolstring(L, 3, &text.size);
        plain = !memchr(text.at, '%', text.size);
    }

    void add(const char* s, const char* e)
    {
        if (++count % kPerPoll == 0)
            poll(L);
        if (plain)
            luaL_addlstring(&out, text.at, text.size);
        else if (text.at)
            add_template(s, e);
        else
            add_value(s, e);
    }

    int count = 0;

private:
    void add_template(const char* s, const char* e)
    {
        for (size_t i = 0; i < text.size; i++)
        {
            if (++pieces % kPerPoll == 0)
                poll(L);
            char c = text.at[i];
            if (c != '%')
            {
                luaL_addchar(&out, c);
                continue;
            }
            c = text.at[++i]; // behind the text stands a NUL
            if (c == '0')
                luaL_addlstring(&out, s, size_t(e - s));
            else if (isdigit(static_cast<unsigned char>(c)))
            {
                m.push_capture(c - '1', s, e);
                luaL_addvalue(&out);
            }
            else if (c == '%')
                luaL_addchar(&out, c);
            else
                luaL_error(L, "invalid use of '%c' in replacement string", '%');
        }
    }

    void add_value(const char* s, const char* e)
    {
        if (type == LUA_TFUNCTION)
        {
            lua_pushvalue(L, 3);
            int n = m.push_captures(s, e);
            lua_call(L, n, 1);
        }
        else
        {
            m.push_capture(0, s, e);
            lua_gettable(L, 3);
        }
        if (!lua_toboolean(L, -1))
        {
            lua_pop(L, 1);
            luaL_addlstring(&out, s, size_t(e - s));
            return;
        }
        if (!lua_isstring(L, -1))
            luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
        luaL_addvalue(&out);
    }

    lua_State* L;
    Matcher& m;
    luaL_Strbuf& out;
    int type;
    Text text = {nullptr, 0};
    bool plain = false;
    size_t pieces = 0;
};

// Gives where the unchanged rest begins.
const char* replace_literal(Replacer& r, luaL_Strbuf& out, const char* from, const char* end, Text p, int most)
{
    while (r.count < most)
    {
        const char* at = find_text(from, end, p.at, p.size);
        if (!at)
            break;
        luaL_addlstring(&out, from, size_t(at - from));
        r.add(at, at + p.size);
        from = at + p.size;
    }
    return from;
}

const char*
replace_matches(Replacer& r, Matcher& m, luaL_Strbuf& out, const char* from, const char* end, bool anchored, int most)
{
    while (r.count < most)
    {
        const char* to = m.match_at(from);
        if (to)
            r.add(from, to);
        if (to && to > from)
            from = to;
        else if (from < end)
            luaL_addchar(&out, *from++);
        else
            break;
        if (anchored)
            break;
    }
    return from;
}

int gsub(lua_State* L)
{
    Text s = text_argument(L, 1), p = text_argument(L, 2);
    int type = lua_type(L, 3);
    int most = luaL_optinteger(L, 4, int(s.size) + 1);
    luaL_argexpected(
        L,
        type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION || type == LUA_TTABLE,
        3,
        "string/function/table"
    );
    bool anchored = p.size > 0 && p.at[0] == '^';
    Text rest = {p.at + anchored, p.size - anchored};
    luaL_Strbuf out;
    luaL_buffinit(L, &out);
    Matcher m(L, s.at, s.size, rest.at, rest.size);
    Replacer r(L, m, out);
    const char* end = s.at + s.size;
    // A ')' without its partner is an error, which matching tells.
    bool literal = !anchored && rest.size > 0 && is_literal(rest) && !memchr(rest.at, ')', rest.size);
    const char* from = literal ? replace_literal(r, out, s.at, end, rest, most)
                               : replace_matches(r, m, out, s.at, end, anchored, most);
    luaL_addlstring(&out, from, size_t(end - from));
    luaL_pushresult(&out);
    lua_pushinteger(L, r.count);
    return 2;
}

} // namespace

// A look for the first byte is the quicker way as long as few of its finds are wrong; memmem takes some
// time to begin with, but is never quadratic.
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

const luaL_Reg pattern_functions[] = {
    {"find", find}, {"match", match}, {"gmatch", gmatch}, {"gsub", gsub}, {nullptr, nullptr}};

} // namespace hk
