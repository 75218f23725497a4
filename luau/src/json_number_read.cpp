#include "json_number.h"

#include "json_bytes.h"

#include <charconv>
#include <limits>
#include <string.h>

namespace hk
{

namespace
{

const uint64_t kSafeInteger = (uint64_t(1) << 53) - 1;
const uint64_t kIntegerLimit = uint64_t(std::numeric_limits<int64_t>::max());

const double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                          1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
const int kMaxPower = 22;

bool is_digit(uint8_t c)
{
    return uint8_t(c - '0') < 10;
}

// What the text of one number says, before it becomes a value.
struct Decimal
{
    const uint8_t* begin = nullptr;
    const uint8_t* end = nullptr;
    bool negative = false;
    bool whole = true;     // neither fraction nor exponent
    int digits = 0;        // significant ones, capped: 20 means the mantissa wrapped
    uint64_t mantissa = 0; // exact up to 19 digits
    int exponent = 0;      // value = mantissa * 10^exponent
};

const int kExponentCap = 100000000;

const uint8_t* take_digits(const uint8_t* p, Decimal& d)
{
    const uint8_t* from = p;
    uint64_t mantissa = d.mantissa;
    while (is_digit(*p))
        mantissa = mantissa * 10 + uint64_t(*p++ - '0');
    // Leading zeros are no significant digits, and only while nothing stands before them can there be any.
    if (d.mantissa == 0)
        while (from < p && *from == '0')
            from++;
    long count = d.digits + long(p - from);
    d.digits = int(count < 20 ? count : 20);
    d.mantissa = mantissa;
    return p;
}

const uint8_t* take_exponent(const uint8_t* p, Decimal& d)
{
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return nullptr;
    int value = 0;
    for (; is_digit(*p); p++)
        value = value < kExponentCap ? value * 10 + (*p - '0') : kExponentCap;
    d.exponent += negative ? -value : value;
    return p;
}

bool scan(const uint8_t* p, Decimal& d)
{
    d.begin = p;
    if (*p == '-')
    {
        d.negative = true;
        p++;
    }
    if (!is_digit(*p))
        return false;
    const uint8_t* first = p;
    p = take_digits(p, d);
    if (*first == '0' && p - first > 1)
        return false;
    if (*p == '.')
    {
        const uint8_t* fraction = p + 1;
        p = take_digits(fraction, d);
        if (p == fraction)
            return false;
        d.whole = false;
        d.exponent = -int(p - fraction);
    }
    if (*p == 'e' || *p == 'E')
    {
        d.whole = false;
        p = take_exponent(p + 1, d);
        if (!p)
            return false;
    }
    d.end = p;
    return true;
}

Number whole_number(const Decimal& d)
{
    double sign = d.negative ? -1.0 : 1.0;
    if (d.digits < 20)
    {
        if (d.mantissa <= kSafeInteger)
            return {NumberKind::real, sign * double(d.mantissa), 0, d.end};
        if (d.mantissa <= kIntegerLimit + (d.negative ? 1 : 0))
            return {NumberKind::integer, 0, int64_t(d.negative ? 0 - d.mantissa : d.mantissa), d.end};
    }
    return {NumberKind::exact, 0, 0, d.end};
}

// from_chars says "out of range" for too large and too small alike; the first digit's place tells them apart.
bool below_one(const Decimal& d)
{
    long place = 0;
    bool seen = false, point = false;
    for (const uint8_t* p = d.begin; p < d.end && *p != 'e' && *p != 'E'; p++)
    {
        if (*p == '.')
            point = true;
        else if (*p != '-')
        {
            seen = seen || *p != '0';
            if (!point && seen)
                place++;
            if (point && !seen)
                place--;
        }
    }
    long exponent = 0;
    for (const uint8_t* p = d.begin; p < d.end; p++)
        if (*p == 'e' || *p == 'E')
        {
            Decimal alone;
            take_exponent(p + 1, alone);
            exponent = alone.exponent;
        }
    return place + exponent <= 0;
}

Number slow_real(const Decimal& d)
{
    double value = 0;
    auto text = reinterpret_cast<const char*>(d.begin);
    auto end = reinterpret_cast<const char*>(d.end);
    auto got = std::from_chars(text, end, value);
    if (got.ec == std::errc() && got.ptr == end && value - value == 0)
        return {NumberKind::real, value, 0, d.end};
    if (got.ec == std::errc::result_out_of_range && below_one(d))
        return {NumberKind::real, d.negative ? -0.0 : 0.0, 0, d.end};
    return {NumberKind::too_large, 0, 0, d.end};
}

Number real_number(const Decimal& d)
{
    // Both operands are exact doubles, so one rounding is the right one.
    if (d.digits < 20 && d.mantissa <= kSafeInteger && d.exponent <= kMaxPower && d.exponent >= -kMaxPower)
    {
        double value = double(d.mantissa);
        value = d.exponent < 0 ? value / kPowers[-d.exponent] : value * kPowers[d.exponent];
        return {NumberKind::real, d.negative ? -value : value, 0, d.end};
    }
    return slow_real(d);
}

// The value of eight digits, or false if one of the bytes is none.
bool eight_digits(const uint8_t* p, uint64_t* value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint64_t word = load8(p);
    uint64_t low = word - kOnes * '0';
    uint64_t beyond = word + kOnes * (0x7f - '9');
    if ((low | beyond) & kHighBits)
        return false;
    low = low * 10 + (low >> 8);
    uint64_t mask = 0x000000ff000000ff;
    *value = ((low & mask) * 0x000f424000000064 + ((low >> 16) & mask) * 0x0000271000000001) >> 32;
    return true;
#else
    (void)p, (void)value;
    return false;
#endif
}

const uint8_t* plain_digits(const uint8_t* p, const uint8_t* end, uint64_t& mantissa)
{
    uint64_t eight;
    while (end - p >= 8 && eight_digits(p, &eight))
    {
        mantissa = mantissa * 100000000 + eight;
        p += 8;
    }
    for (; is_digit(*p); p++)
        mantissa = mantissa * 10 + uint64_t(*p - '0');
    return p;
}

// Most numbers: at most 19 digits, no exponent. false: it is another kind, or malformed.
bool read_plain(const uint8_t* p, const uint8_t* end, Number& number)
{
    bool negative = *p == '-';
    const uint8_t* first = p + negative;
    uint64_t mantissa = 0;
    const uint8_t* q = plain_digits(first, end, mantissa);
    long digits = q - first;
    long places = 0;
    if (digits == 0 || (*first == '0' && digits > 1))
        return false;
    if (*q == '.')
    {
        const uint8_t* fraction = q + 1;
        q = plain_digits(fraction, end, mantissa);
        places = q - fraction;
        if (places == 0)
            return false;
    }
    if (mantissa > kSafeInteger || digits + places > 19 || *q == 'e' || *q == 'E')
        return false;
    double value = double(mantissa);
    if (places)
        value /= kPowers[places];
    number = {NumberKind::real, negative ? -value : value, 0, q};
    return true;
}

} // namespace

Number read_number(const uint8_t* p, const uint8_t* end)
{
    Number quick;
    if (read_plain(p, end, quick))
        return quick;
    Decimal d;
    if (!scan(p, d))
        return {NumberKind::malformed, 0, 0, p};
    return d.whole ? whole_number(d) : real_number(d);
}

} // namespace hk
