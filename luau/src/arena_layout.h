// How an arena lies in memory: its bookkeeping, then blocks without a gap up to `top`. Private to
// arena*.cpp.
#pragma once

#include "arena.h"
#include "asan.h"

namespace hk
{
namespace layout
{

constexpr size_t kAlign = 16;
constexpr size_t kMinBlock = 32; // header word, two links, and the footer kept in the next block
constexpr size_t kFree = 1;      // flags in the low bits of Block::size
constexpr size_t kPrevFree = 2;  // the block before this one is free and `prev` names it
constexpr size_t kFlags = kFree | kPrevFree;

constexpr int kSecondBits = 4;
constexpr int kSecond = 1 << kSecondBits;
constexpr int kSmallBits = 8; // sizes below 256 share the first row, one bin per 16 bytes
constexpr int kFirst = 31;    // enough for blocks of 2^37 bytes

// Block* points 16 bytes before the user's bytes. `prev` overlaps the last user bytes of the block
// before and is valid only when that one is free; the links are valid only when this one is.
struct Block
{
    Block* prev;
    size_t size;
    Block* next_free;
    Block* prev_free;
};

struct Bin
{
    int first;
    int second;
};

} // namespace layout

struct Arena
{
    // Settings and statistics: they stay as they are when an image is restored.
    char* end; // of the usable memory
    size_t mapped;
    char* touched;
    size_t limit;
    size_t peak;
    const std::atomic<int64_t>* external;
    size_t threshold;
    ArenaPressure pressure;
    void* pressure_ctx;
    bool armed;

    // State: part of an image. A head is valid only where its bit is set.
    char* top; // where the memory without blocks begins
    size_t used;
    uint64_t first_map;
    uint32_t second_map[layout::kFirst];
    layout::Block* heads[layout::kFirst * layout::kSecond];
};

namespace layout
{

constexpr size_t kFirstBlock = (sizeof(Arena) + kAlign - 1) & ~(kAlign - 1);

inline size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

HK_NO_ASAN inline size_t size_of(const Block* b)
{
    return b->size & ~kFlags;
}

HK_NO_ASAN inline Block* at(void* base, size_t offset)
{
    return reinterpret_cast<Block*>(static_cast<char*>(base) + offset);
}

HK_NO_ASAN inline Block* next_of(Block* b)
{
    return at(b, size_of(b));
}

inline char* user_of(Block* b)
{
    return reinterpret_cast<char*>(b) + 16;
}

inline Block* block_of(void* user)
{
    return reinterpret_cast<Block*>(static_cast<char*>(user) - 16);
}

inline bool is_top(const Arena* a, const Block* b)
{
    return reinterpret_cast<const char*>(b) == a->top;
}

inline size_t block_size_for(size_t n)
{
    size_t size = round_up(n + sizeof(size_t), kAlign);
    return size < kMinBlock ? kMinBlock : size;
}

inline int top_bit(size_t n)
{
    return 63 - __builtin_clzll(n);
}

inline Bin bin_of(size_t size)
{
    if (size < (size_t(1) << kSmallBits))
        return {0, int(size / kAlign)};
    int bit = top_bit(size);
    return {bit - kSmallBits + 1, int(size >> (bit - kSecondBits)) - kSecond};
}

} // namespace layout
} // namespace hk
