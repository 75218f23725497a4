#include "pattern.h"

#include "vm.h"

#include "lstate.h"

#include <ctype.h>
#include <string.h>

namespace hk
{

namespace
{

// Bytes looked at between two safe points.
constexpr size_t kStretch = size_t(1) << 16;
// Sets longer than this are turned into a table before a long run over them.
constexpr ptrdiff_t kLongSet = 8;

inline unsigned char byte(char c)
{
    return static_cast<unsigned char>(c);
}

inline void safe_point(lua_State* L)
{
    if (LUAU_UNLIKELY(L->global->cb.interrupt != nullptr))
        on_interrupt(L, -1);
}

inline bool is_special(char c)
{
    return c == 'b' || c == 'f' || isdigit(byte(c));
}

// Whether c belongs to the class that follows a '%'.
bool in_class(unsigned char c, unsigned char name)
{
    bool is;
    switch (name | 0x20)
    {
    case 'a':
        is = isalpha(c) != 0;
        break;
    case 'c':
        is = iscntrl(c) != 0;
        break;
    case 'd':
        is = isdigit(c) != 0;
        break;
    case 'g':
        is = isgraph(c) != 0;
        break;
    case 'l':
        is = islower(c) != 0;
        break;
    case 'p':
        is = ispunct(c) != 0;
        break;
    case 's':
        is = isspace(c) != 0;
        break;
    case 'u':
        is = isupper(c) != 0;
        break;
    case 'w':
        is = isalnum(c) != 0;
        break;
    case 'x':
        is = isxdigit(c) != 0;
        break;
    case 'z':
        is = c == 0;
        break;
    default:
        return name == c;
    }
    return is == (islower(name) != 0);
}

// Whether c is in the set from '[' at p to ']' at last.
bool in_set(unsigned char c, const char* p, const char* last)
{
    bool found = true;
    if (*++p == '^')
    {
        found = false;
        p++;
    }
    for (; p < last; p++)
    {
        if (*p == '%')
        {
            if (in_class(c, byte(*++p)))
                return found;
        }
        else if (p[1] == '-' && p + 2 < last)
        {
            if (byte(p[0]) <= c && c <= byte(p[2]))
                return found;
            p += 2;
        }
        else if (byte(*p) == c)
            return found;
    }
    return !found;
}

struct ByteSet
{
    bool has[256] = {};

    ByteSet(const char* p, const char* last)
    {
        bool inverse = p[1] == '^';
        for (p += inverse ? 2 : 1; p < last; p++)
            add(p, last);
        for (bool& b : has)
            b = b != inverse;
    }

private:
    void add(const char*& p, const char* last)
    {
        if (*p == '%')
        {
            p++;
            for (int c = 0; c < 256; c++)
                has[c] = has[c] || in_class(static_cast<unsigned char>(c), byte(*p));
        }
        else if (p[1] == '-' && p + 2 < last)
        {
            for (int c = byte(p[0]); c <= byte(p[2]); c++)
                has[c] = true;
            p += 2;
        }
        else
            has[byte(*p)] = true;
    }
};

} // namespace

// Behind the single item at p: a character, a class or a set.
const char* Matcher::item_end(const char* p)
{
    char first = *p++;
    if (first == '%')
    {
        if (p == patternEnd)
            luaL_error(L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (first != '[')
        return p;
    if (*p == '^')
        p++;
    do // the first one may be ']' itself
    {
        if (p == patternEnd)
            luaL_error(L, "malformed pattern (missing ']')");
        if (*p++ == '%' && p < patternEnd)
            p++;
    }
    while (*p != ']');
    return p + 1;
}

inline bool Matcher::is_one(const char* s, const char* p, const char* after)
{
    if (s >= end)
        return false;
    switch (*p)
    {
    case '.':
        return true;
    case '%':
        return in_class(byte(*s), byte(p[1]));
    case '[':
        return in_set(byte(*s), p, after - 1);
    default:
        return *p == *s;
    }
}

// How many characters from s on are the item at p.
size_t Matcher::run_length(const char* s, const char* p, const char* after)
{
    if (*p == '.')
        return size_t(end - s);
    const char* from = s;
    const char* near = s + kLongSet < end ? s + kLongSet : end;
    while (s < near && is_one(s, p, after))
        s++;
    if (s < near || s == end)
        return size_t(s - from);
    if (*p == '[' && after - p > kLongSet)
    {
        ByteSet set(p, after - 1);
        for (; s < end && set.has[byte(*s)]; s++)
            if ((size_t(s - from) & (kStretch - 1)) == 0)
                safe_point(L);
        return size_t(s - from);
    }
    for (; is_one(s, p, after); s++)
        if ((size_t(s - from) & (kStretch - 1)) == 0)
            safe_point(L);
    return size_t(s - from);
}

const char* Matcher::most(const char* s, const char* p, const char* after)
{
    for (ptrdiff_t n = ptrdiff_t(run_length(s, p, after)); n >= 0; n--)
        if (const char* e = match(s + n, after + 1))
            return e;
    return nullptr;
}

const char* Matcher::fewest(const char* s, const char* p, const char* after)
{
    for (;; s++)
    {
        if (const char* e = match(s, after + 1))
            return e;
        if (!is_one(s, p, after))
            return nullptr;
    }
}

const char* Matcher::open(const char* s, const char* p, ptrdiff_t kind)
{
    if (level >= LUA_MAXCAPTURES)
        luaL_error(L, "too many captures");
    captures[level++] = {s, kind};
    const char* e = match(s, p);
    if (!e)
        level--;
    return e;
}

const char* Matcher::close(const char* s, const char* p)
{
    int i = level - 1;
    while (i >= 0 && captures[i].size != kOpen)
        i--;
    if (i < 0)
        luaL_error(L, "invalid pattern capture");
    captures[i].size = s - captures[i].at;
    const char* e = match(s, p);
    if (!e)
        captures[i].size = kOpen;
    return e;
}

const char* Matcher::balanced(const char* s, const char* p)
{
    if (p + 1 >= patternEnd)
        luaL_error(L, "malformed pattern (missing arguments to '%%b')");
    if (*s != *p) // at the end of the subject stands a NUL
        return nullptr;
    size_t open = 1;
    for (const char* from = s++; s < end; s++)
    {
        if ((size_t(s - from) & (kStretch - 1)) == 0)
            safe_point(L);
        if (*s == p[1])
        {
            if (--open == 0)
                return s + 1;
        }
        else if (*s == p[0])
            open++;
    }
    return nullptr;
}

bool Matcher::frontier(const char* s, const char* set, const char* after)
{
    unsigned char before = s == begin ? 0 : byte(s[-1]);
    return !in_set(before, set, after - 1) && in_set(byte(*s), set, after - 1);
}

const char* Matcher::same_as(const char* s, char digit)
{
    int i = digit - '1';
    if (i < 0 || i >= level || captures[i].size == kOpen)
        luaL_error(L, "invalid capture index %%%d", i + 1);
    size_t size = size_t(captures[i].size); // of a position: more than there can be
    return size_t(end - s) >= size && memcmp(captures[i].at, s, size) == 0 ? s + size : nullptr;
}

// Matches from p to the end of the pattern. What may be tried again calls match for the rest.
__attribute__((always_inline)) inline const char* Matcher::items(const char* s, const char* p)
{
    while (p != patternEnd)
    {
        switch (*p)
        {
        case '(':
            return p[1] == ')' ? open(s, p + 2, kPosition) : open(s, p + 1, kOpen);
        case ')':
            return close(s, p + 1);
        case '$':
            if (p + 1 == patternEnd)
                return s == end ? s : nullptr;
            break;
        case '%':
            if (!is_special(p[1]))
                break;
            if (!(s = special(s, p)))
                return nullptr;
            continue;
        }
        const char* after = item_end(p);
        char suffix = *after; // behind the pattern stands a NUL
        if (!is_one(s, p, after))
        {
            if (suffix != '*' && suffix != '?' && suffix != '-')
                return nullptr;
            p = after + 1;
            continue;
        }
        switch (suffix)
        {
        case '*':
            return most(s, p, after);
        case '+':
            return most(s + 1, p, after);
        case '-':
            return fewest(s, p, after);
        case '?':
            if (const char* e = match(s + 1, after + 1))
                return e;
            p = after + 1;
            break;
        default:
            s++;
            p = after;
        }
    }
    return s;
}

const char* Matcher::match(const char* s, const char* p)
{
    if (++depth > LUAI_MAXCCALLS)
        luaL_error(L, "pattern too complex");
    safe_point(L);
    s = items(s, p);
    depth--;
    return s;
}

// %b, %f and %1 to %9. Moves p behind it.
const char* Matcher::special(const char* s, const char*& p)
{
    char kind = p[1];
    p += 2;
    if (kind == 'b')
    {
        s = balanced(s, p);
        p += 2;
        return s;
    }
    if (kind != 'f')
        return same_as(s, kind);
    if (*p != '[')
        luaL_error(L, "missing '[' after '%%f' in pattern");
    const char* after = item_end(p);
    bool is = frontier(s, p, after);
    p = after;
    return is ? s : nullptr;
}

void Matcher::push_capture(int i, const char* s, const char* e)
{
    if (i >= level)
    {
        if (i != 0)
            luaL_error(L, "invalid capture index");
        lua_pushlstring(L, s, size_t(e - s));
        return;
    }
    const Capture& c = captures[i];
    if (c.size == kOpen)
        luaL_error(L, "unfinished capture");
    if (c.size == kPosition)
        lua_pushinteger(L, int(c.at - begin) + 1);
    else
        lua_pushlstring(L, c.at, size_t(c.size));
}

int Matcher::push_captures(const char* s, const char* e)
{
    int count = level == 0 && s ? 1 : level;
    luaL_checkstack(L, count, "too many captures");
    for (int i = 0; i < count; i++)
        push_capture(i, s, e);
    return count;
}

} // namespace hk
