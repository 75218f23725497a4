#include "json_number.h"

#include <charconv>
#include <string.h>

namespace hk
{

namespace
{

const double kPowers[] = {1, 10, 100, 1000};
const int kShortPlaces = 3;

char* write_digits(char* out, uint64_t value)
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char text[20];
    char* p = text + sizeof(text);
    while (value >= 100)
    {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10)
    {
        p -= 2;
        memcpy(p, pairs + value * 2, 2);
    }
    else
    {
        *--p = char('0' + value);
    }
    size_t n = size_t(text + sizeof(text) - p);
    memcpy(out, p, n);
    return out + n;
}

// digits (count of them) with the decimal point after `point` of them, as JavaScript prints it.
char* place_point(char* out, const char* digits, int count, int point)
{
    if (point > 0 && point <= 21)
    {
        int before = count < point ? count : point;
        memcpy(out, digits, size_t(before));
        out += before;
        for (int i = count; i < point; i++)
            *out++ = '0';
        if (count <= point)
            return out;
        *out++ = '.';
        memcpy(out, digits + point, size_t(count - point));
        return out + count - point;
    }
    if (point > -6 && point <= 0)
    {
        *out++ = '0';
        *out++ = '.';
        for (int i = point; i < 0; i++)
            *out++ = '0';
        memcpy(out, digits, size_t(count));
        return out + count;
    }
    *out++ = digits[0];
    if (count > 1)
    {
        *out++ = '.';
        memcpy(out, digits + 1, size_t(count - 1));
        out += count - 1;
    }
    int exponent = point - 1;
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    return write_digits(out, uint64_t(exponent < 0 ? -exponent : exponent));
}

// A decimal of at most 15 digits that reads back as the same double is its shortest form, and dividing finds the
// everyday ones (prices, coordinates) sooner than the general algorithm.
char* write_short_fraction(char* out, double value)
{
    for (int places = 1; places <= kShortPlaces; places++)
    {
        double scaled = value * kPowers[places];
        if (scaled >= 1e15)
            return nullptr;
        uint64_t m = uint64_t(scaled + 0.5);
        if (m == 0 || double(m) / kPowers[places] != value)
            continue;
        uint64_t scale = uint64_t(kPowers[places]);
        out = write_digits(out, m / scale);
        *out = '.';
        char* end = out + places;
        for (uint64_t rest = m % scale; end > out; rest /= 10)
            *end-- = char('0' + rest % 10);
        return out + places + 1;
    }
    return nullptr;
}

char* write_shortest(char* out, double value)
{
    char text[40];
    char* end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific).ptr;
    char digits[24];
    int count = 0;
    char* p = text;
    for (; *p != 'e'; p++)
        if (*p != '.')
            digits[count++] = *p;
    int exponent = 0;
    std::from_chars(p[1] == '+' ? p + 2 : p + 1, end, exponent);
    while (count > 1 && digits[count - 1] == '0')
        count--;
    return place_point(out, digits, count, exponent + 1);
}

} // namespace

char* write_real(char* out, double value)
{
    if (value < 0 || (value == 0 && 1 / value < 0))
    {
        *out++ = '-';
        value = -value;
    }
    if (value < 1e15)
    {
        uint64_t whole = uint64_t(value);
        if (double(whole) == value)
            return write_digits(out, whole);
        if (char* end = write_short_fraction(out, value))
            return end;
    }
    return write_shortest(out, value);
}

char* write_integer(char* out, int64_t value)
{
    if (value >= 0)
        return write_digits(out, uint64_t(value));
    *out++ = '-';
    return write_digits(out, 0 - uint64_t(value));
}

} // namespace hk
