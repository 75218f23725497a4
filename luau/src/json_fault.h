// Where and why a text is not JSON. Slow and exact: it runs only after the fast parser has refused the text.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hk
{

struct Fault
{
    char what[80] = "invalid JSON";
    size_t at = 0; // offset in bytes, from 0
};

// The first fault of the text. text[size] must be readable and 0. false: none found.
bool find_fault(const uint8_t* text, size_t size, int max_depth, Fault& fault);

struct Place
{
    size_t line = 1;   // from 1
    size_t column = 1; // in characters, from 1
};

Place place_of(const uint8_t* text, size_t at);

} // namespace hk
