// Eight bytes at a time.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace hk
{

const uint64_t kOnes = 0x0101010101010101;
const uint64_t kHighBits = 0x8080808080808080;

inline uint64_t load8(const void* p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    return word;
}

inline void store8(void* p, uint64_t word)
{
    memcpy(p, &word, sizeof(word));
}

// The bytes of a word that stand first in memory, n of them, 0 < n < 8.
inline uint64_t first_bytes(size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (uint64_t(1) << (n * 8)) - 1;
#else
    return ~(~uint64_t(0) >> (n * 8));
#endif
}

// The n bytes before end, 0 < n < 8, standing first in a word whose others are zero. It reads eight bytes before end,
// never behind it: of a Luau string that is the string itself or its header.
inline uint64_t last_bytes(const char* end, size_t n)
{
    uint64_t word = load8(end - sizeof(word));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return word >> (8 * (sizeof(word) - n));
#else
    return word << (8 * (sizeof(word) - n));
#endif
}

// Nonzero if some byte is zero.
inline uint64_t zero_bytes(uint64_t word)
{
    return (word - kOnes) & ~word & kHighBits;
}

inline uint64_t bytes_equal(uint64_t word, uint8_t byte)
{
    return zero_bytes(word ^ (kOnes * byte));
}

} // namespace hk
