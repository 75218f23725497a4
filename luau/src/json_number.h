// JSON's numbers: text to the value that keeps every digit, and back in JavaScript's form.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hk
{

enum class NumberKind
{
    real,    // a double
    integer, // beyond +-(2^53-1) and within 64 bits
    exact,   // an integer beyond 64 bits: its digits are the value
    malformed,
    too_large, // no finite double
};

struct Number
{
    NumberKind kind;
    double real;
    int64_t integer;
    const uint8_t* end; // one past the number
};

// Reads the number at p. The text ends at `end`, where a readable byte stands that cannot belong to a number.
Number read_number(const uint8_t* p, const uint8_t* end);

const size_t kNumberRoom = 32; // bytes that any formatted number fits in

// Both write at most kNumberRoom bytes and return the end. The double must be finite.
char* write_real(char* out, double value);
char* write_integer(char* out, int64_t value);

} // namespace hk
