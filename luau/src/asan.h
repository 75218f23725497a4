// AddressSanitizer sees nothing inside an arena unless it is told. These are no-ops without it.
#pragma once

#include <stddef.h>
#include <string.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define HK_ASAN 1
#include <sanitizer/asan_interface.h>
// For code that works on headers kept in poisoned memory.
#define HK_NO_ASAN __attribute__((no_sanitize_address))
#else
#define HK_ASAN 0
#define HK_NO_ASAN
#endif

namespace hk
{

inline void asan_poison(const void* p, size_t n)
{
#if HK_ASAN
    __asan_poison_memory_region(p, n);
#else
    (void)p;
    (void)n;
#endif
}

inline void asan_unpoison(const void* p, size_t n)
{
#if HK_ASAN
    __asan_unpoison_memory_region(p, n);
#else
    (void)p;
    (void)n;
#endif
}

// A copy that may read and write poisoned bytes; memcpy itself is checked under ASan.
HK_NO_ASAN inline void raw_copy(void* to, const void* from, size_t n)
{
#if HK_ASAN
    volatile char* t = static_cast<volatile char*>(to);
    const volatile char* f = static_cast<const volatile char*>(from);
    for (size_t i = 0; i < n; i++)
        t[i] = f[i];
#else
    memcpy(to, from, n);
#endif
}

} // namespace hk
