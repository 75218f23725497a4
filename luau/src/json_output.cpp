#include "json_output.h"

namespace hk
{

namespace
{

const size_t kWord = sizeof(uint64_t);

// Marks bytes below 0x20, quotes and backslashes. It may mark more behind the first marked byte, never before it.
uint64_t special(uint64_t word)
{
    uint64_t control = (word - kOnes * 0x20) & ~word & kHighBits;
    return control | bytes_equal(word, '"') | bytes_equal(word, '\\');
}

size_t first_marked(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return size_t(__builtin_ctzll(marks)) / 8;
#else
#error "the marks of special() are only right from the low end"
#endif
}

} // namespace

void Output::grow(size_t n)
{
    size_t used = size();
    scratch.grow(scratch->text, used + n);
    begin = scratch->text.data();
    p = begin + used;
    end = begin + scratch->text.size();
}

void Output::escape(uint8_t c)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_forms[] = "btn?fr";
    char* out = room(6);
    out[0] = '\\';
    out[1] = char(c);
    if (c >= 0x20)
        return commit(out + 2);
    if (c >= 8 && c <= 13 && c != 11)
    {
        out[1] = short_forms[c - 8];
        return commit(out + 2);
    }
    memcpy(out + 1, "u00", 3);
    out[4] = hex[c >> 4];
    out[5] = hex[c & 15];
    commit(out + 6);
}

void Output::string(const char* s, size_t n)
{
    // Room for the string as it is; each escape asks for its own and for the rest again.
    char* out = room(n + kWord + 2);
    *out++ = '"';
    const char* stop = s + n;
    while (s < stop)
    {
        size_t left = size_t(stop - s);
        size_t whole = left < kWord ? left : kWord;
        uint64_t word = whole == kWord ? load8(s) : last_bytes(stop, left) | ((kOnes * 'a') & ~first_bytes(left));
        store8(out, word);
        uint64_t marks = special(word);
        if (__builtin_expect(marks != 0, 0))
        {
            size_t clean = first_marked(marks);
            high |= clean ? word & first_bytes(clean) : 0;
            commit(out + clean);
            escape(uint8_t(s[clean]));
            s += clean + 1;
            out = room(size_t(stop - s) + kWord + 2);
            continue;
        }
        high |= word;
        s += whole;
        out += whole;
    }
    commit(out);
    put('"');
}

} // namespace hk
