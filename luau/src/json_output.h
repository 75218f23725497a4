// The text that the encoder writes: charged memory with room checked once for each piece.
#pragma once

#include "json_bytes.h"
#include "json_scratch.h"

#include <string.h>

namespace hk
{

class Output
{
public:
    Output(ScratchUse& scratch)
        : scratch(scratch), begin(scratch->text.data()), p(begin), end(begin + scratch->text.size())
    {
    }

    // Room for n bytes behind the returned place; commit says how far they were used.
    char* room(size_t n)
    {
        if (__builtin_expect(size_t(end - p) < n, 0))
            grow(n);
        return p;
    }
    void commit(char* to)
    {
        p = to;
    }
    void put(char c)
    {
        *room(1) = c;
        p++;
    }
    void put(const char* s, size_t n)
    {
        memcpy(room(n), s, n);
        p += n;
    }
    // In quotes, with escapes. The 8 bytes before a string are readable: it is Luau's, and they are its header.
    void string(const char* s, size_t n);

    const char* data() const
    {
        return begin;
    }
    size_t size() const
    {
        return size_t(p - begin);
    }
    bool ascii() const
    {
        return (high & kHighBits) == 0;
    }

private:
    ScratchUse& scratch;
    char* begin;
    char* p;
    char* end;
    uint64_t high = 0; // all bytes of all strings, or-ed together

    void grow(size_t n);
    void escape(uint8_t c);
};

} // namespace hk
