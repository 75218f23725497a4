// Random words that one script cannot predict from what another one drew.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hk
{

// Fills out[0..n) from a per-thread ChaCha generator seeded by the system. No system call but for
// the first use on a thread. Safe from any thread.
void random_words(uint64_t* out, size_t n);

} // namespace hk
