// The memory of one VM: an address range of the size of its limit, with an allocator inside.
// All of it is one mapping, so a VM can be put back to an earlier moment (image.h) or thrown
// away in one call, and its limit holds exactly.
//
// An Arena belongs to one thread at a time. Only the counter given to arena_set_charge may be
// written from elsewhere.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace hk
{

struct Arena; // its bookkeeping lives in its own mapping

// Reserves address space for `limit` bytes of live blocks; pages are only backed by memory once
// touched. A quarter of the limit is reserved on top, so that holes between blocks do not make an
// allocation fail long before the limit is reached. An unmapped page follows. Limits below 64 KiB
// and above 64 GiB are raised and lowered to these. nullptr when the system refuses.
Arena* arena_create(size_t limit);

// Unmaps everything, live blocks included. nullptr is ignored.
void arena_destroy(Arena* arena);

// The VM's allocation function (lua_Alloc); `ud` is the Arena. Blocks are aligned to 16 bytes.
// Returns nullptr when the limit would be passed or no gap is large enough; shrinking never fails.
void* arena_alloc(void* ud, void* ptr, size_t osize, size_t nsize);

// Bytes in live blocks, headers and rounding included.
size_t arena_used(const Arena* arena);
// The highest arena_used since creation or since the last image_restore.
size_t arena_peak(const Arena* arena);
size_t arena_limit(const Arena* arena);
// Sets the limit, at most to what was reserved. A limit below what is in use refuses every
// allocation that grows until enough was freed.
void arena_set_limit(Arena* arena, size_t bytes);

// Host memory held for the same run: an allocation is refused when the arena's bytes, *external
// and the new block together pass the limit. The counter must outlive its use; nullptr ends it.
void arena_set_charge(Arena* arena, const std::atomic<int64_t>* external);

// Calls fn each time the bytes in use (external ones included) rise from below to at least
// `threshold`, and each time an allocation is refused. fn runs inside the allocator: it must not
// allocate from the arena and must not throw. threshold 0 or fn nullptr: never called.
typedef void (*ArenaPressure)(void* ctx);
void arena_on_pressure(Arena* arena, size_t threshold, ArenaPressure fn, void* ctx);

// --- for image.cpp and tests ---

enum class ArenaSpan
{
    Bookkeeping, // the allocator's own bytes: always part of an image
    Block,       // the bytes of one live block
};

// Reports what is live in ascending order of address.
void arena_walk(Arena* arena, void (*fn)(void* ctx, char* begin, size_t size, ArenaSpan span), void* ctx);

// From the first block to the end of what was ever touched since memory was last given back.
void arena_extent(const Arena* arena, char** begin, char** top, char** touched);

// Tells the arena that its bytes were put back: the peak starts again, pressure is armed again,
// and memory beyond `keep` bytes above the highest block is given back.
void arena_rewound(Arena* arena, size_t keep);

// Asserts every invariant of the block list and the free lists by a full walk. For tests.
bool arena_check(const Arena* arena);

} // namespace hk
