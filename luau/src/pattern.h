// Lua patterns with safe points: each part of a match that grows with the subject or the pattern
// looks for a kill, where Luau's own matcher does so only once for each try.
#pragma once

#include "lua.h"
#include "lualib.h"

#include <stddef.h>

namespace hk
{

class Matcher
{
public:
    Matcher(lua_State* L, const char* subject, size_t size, const char* pattern, size_t patternSize)
        : L(L), begin(subject), end(subject + size), pattern(pattern), patternEnd(pattern + patternSize)
    {
    }

    // The end of a match that begins at s; nullptr when there is none.
    const char* match_at(const char* s)
    {
        level = 0;
        depth = 0;
        return match(s, pattern);
    }

    // Pushes all captures, or the whole match when there are none and s is given.
    int push_captures(const char* s, const char* e);
    void push_capture(int i, const char* s, const char* e);

private:
    struct Capture
    {
        const char* at;
        ptrdiff_t size; // or kOpen, kPosition
    };
    static constexpr ptrdiff_t kOpen = -1;
    static constexpr ptrdiff_t kPosition = -2;

    const char* match(const char* s, const char* p);
    const char* items(const char* s, const char* p);
    const char* special(const char* s, const char*& p);
    const char* most(const char* s, const char* p, const char* after);
    const char* fewest(const char* s, const char* p, const char* after);
    const char* open(const char* s, const char* p, ptrdiff_t kind);
    const char* close(const char* s, const char* p);
    const char* balanced(const char* s, const char* p);
    bool frontier(const char* s, const char* set, const char* after);
    const char* same_as(const char* s, char digit);
    const char* item_end(const char* p);
    bool is_one(const char* s, const char* p, const char* after);
    size_t run_length(const char* s, const char* p, const char* after);

    lua_State* L;
    const char* begin;
    const char* end;
    const char* pattern;
    const char* patternEnd;
    int depth = 0;
    int level = 0;
    Capture captures[LUA_MAXCAPTURES];
};

} // namespace hk
