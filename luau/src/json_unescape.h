// The inside of a JSON string as the bytes it stands for.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hk
{

// Writes at most size bytes. false: an unknown escape or a lone surrogate. text[size] is readable.
bool unescape(const uint8_t* text, size_t size, char* out, size_t* out_size);

// Four hexadecimal digits, or -1. Reads no further than the first byte that is none.
int hex4(const uint8_t* p);

} // namespace hk
