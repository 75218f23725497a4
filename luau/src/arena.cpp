// A two-level segregated fit allocator with boundary tags: every operation takes constant time,
// neighbours merge when freed, and what is not in use at the top belongs to no block at all, so a
// young VM has a handful of bytes of bookkeeping to save.
#include "arena.h"

#include "asan.h"

#include <sys/mman.h>
#include <unistd.h>

namespace hk
{
namespace
{

constexpr size_t kAlign = 16;
constexpr size_t kMinBlock = 32; // header word, two links, and the footer kept in the next block
constexpr size_t kMinLimit = 64 << 10;
constexpr size_t kMaxLimit = size_t(64) << 30;
constexpr size_t kFree = 1;     // flags in the low bits of Block::size
constexpr size_t kPrevFree = 2; // the block before this one is free and `prev` names it
constexpr size_t kFlags = kFree | kPrevFree;

constexpr int kSecondBits = 4;
constexpr int kSecond = 1 << kSecondBits;
constexpr int kSmallBits = 8; // sizes below 256 share the first row, one bin per 16 bytes
constexpr int kFirst = 31;    // enough for blocks of 2^37 bytes

// A free list is searched this far for a block that is large enough before a bin whose blocks all
// are is taken: without it a freed VM page would not serve the next VM page.
constexpr int kSearch = 4;

// On systems where huge pages are always on, the first touch would make 2 MiB resident; small VMs
// need a tenth of that.
constexpr size_t kSmallPagesFirst = size_t(2) << 20;

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

} // namespace

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
    uint32_t second_map[kFirst];
    Block* heads[kFirst * kSecond];
};

namespace
{

constexpr size_t kFirstBlock = (sizeof(Arena) + kAlign - 1) & ~(kAlign - 1);

size_t page_size()
{
    static const size_t size = size_t(sysconf(_SC_PAGESIZE));
    return size;
}

size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

HK_NO_ASAN size_t size_of(const Block* b)
{
    return b->size & ~kFlags;
}

HK_NO_ASAN Block* at(void* base, size_t offset)
{
    return reinterpret_cast<Block*>(static_cast<char*>(base) + offset);
}

HK_NO_ASAN Block* next_of(Block* b)
{
    return at(b, size_of(b));
}

char* user_of(Block* b)
{
    return reinterpret_cast<char*>(b) + 16;
}

Block* block_of(void* user)
{
    return reinterpret_cast<Block*>(static_cast<char*>(user) - 16);
}

bool is_top(const Arena* a, const Block* b)
{
    return reinterpret_cast<const char*>(b) == a->top;
}

size_t block_size_for(size_t n)
{
    size_t size = round_up(n + sizeof(size_t), kAlign);
    return size < kMinBlock ? kMinBlock : size;
}

int top_bit(size_t n)
{
    return 63 - __builtin_clzll(n);
}

Bin bin_of(size_t size)
{
    if (size < (size_t(1) << kSmallBits))
        return {0, int(size / kAlign)};
    int bit = top_bit(size);
    return {bit - kSmallBits + 1, int(size >> (bit - kSecondBits)) - kSecond};
}

HK_NO_ASAN void bin_insert(Arena* a, Block* b)
{
    Bin bin = bin_of(size_of(b));
    uint32_t bit = uint32_t(1) << bin.second;
    Block** head = &a->heads[bin.first * kSecond + bin.second];
    Block* old = (a->second_map[bin.first] & bit) ? *head : nullptr;
    b->next_free = old;
    b->prev_free = nullptr;
    if (old)
        old->prev_free = b;
    *head = b;
    a->second_map[bin.first] |= bit;
    a->first_map |= uint64_t(1) << bin.first;
}

HK_NO_ASAN void bin_remove(Arena* a, Block* b)
{
    if (b->next_free)
        b->next_free->prev_free = b->prev_free;
    if (b->prev_free)
    {
        b->prev_free->next_free = b->next_free;
        return;
    }
    Bin bin = bin_of(size_of(b));
    a->heads[bin.first * kSecond + bin.second] = b->next_free;
    if (b->next_free)
        return;
    a->second_map[bin.first] &= ~(uint32_t(1) << bin.second);
    if (!a->second_map[bin.first])
        a->first_map &= ~(uint64_t(1) << bin.first);
}

// A free block of at least `size` bytes, still in its list; nullptr when there is none.
HK_NO_ASAN Block* bin_find(Arena* a, size_t size)
{
    if (!a->first_map)
        return nullptr;

    Bin bin = bin_of(size);
    if (a->second_map[bin.first] & (uint32_t(1) << bin.second))
    {
        Block* b = a->heads[bin.first * kSecond + bin.second];
        for (int i = 0; b && i < kSearch; i++, b = b->next_free)
            if (size_of(b) >= size)
                return b;
    }

    // Every block of a higher bin is large enough.
    uint32_t second = uint32_t(uint64_t(a->second_map[bin.first]) & (~uint64_t(0) << (bin.second + 1)));
    int first = bin.first;
    if (!second)
    {
        uint64_t rows = a->first_map & (~uint64_t(0) << (bin.first + 1));
        if (!rows)
            return nullptr;
        first = __builtin_ctzll(rows);
        second = a->second_map[first];
    }
    return a->heads[first * kSecond + __builtin_ctz(second)];
}

// Files [b, b + size) as free. The block before is in use; so is the one behind, if it is not the top.
HK_NO_ASAN void put_back(Arena* a, Block* b, size_t size)
{
    Block* next = at(b, size);
    if (is_top(a, next))
    {
        a->top = reinterpret_cast<char*>(b);
        return;
    }
    b->size = size | kFree;
    next->prev = b;
    next->size |= kPrevFree;
    bin_insert(a, b);
}

size_t total(const Arena* a)
{
    int64_t external = a->external ? a->external->load(std::memory_order_relaxed) : 0;
    return a->used + (external > 0 ? size_t(external) : 0);
}

bool within_limit(const Arena* a, size_t more)
{
    size_t now = total(a);
    return now <= a->limit && more <= a->limit - now;
}

void* refuse(Arena* a)
{
    if (a->pressure)
        a->pressure(a->pressure_ctx);
    return nullptr;
}

void account(Arena* a, size_t more)
{
    a->used += more;
    if (a->used > a->peak)
        a->peak = a->used;
    if (a->pressure && a->armed && total(a) >= a->threshold)
    {
        a->armed = false;
        a->pressure(a->pressure_ctx);
    }
}

void unaccount(Arena* a, size_t less)
{
    a->used -= less;
    if (!a->armed && total(a) < a->threshold)
        a->armed = true;
}

// Moves the top up by `size`; false when the reservation ends before.
bool raise_top(Arena* a, size_t size)
{
    // The last user bytes of the topmost block lie 8 bytes above the top, and a header there must
    // fit as well.
    if (size_t(a->end - a->top) < size + sizeof(Block))
        return false;
    a->top += size;
    if (a->top > a->touched)
        a->touched = a->top;
    return true;
}

// Cuts `b`, in use, down to `size`; what is left over must have an occupied neighbour behind it.
HK_NO_ASAN void cut(Arena* a, Block* b, size_t size)
{
    size_t rest = size_of(b) - size;
    if (rest < kMinBlock)
        return;
    b->size = size | (b->size & kFlags);
    put_back(a, at(b, size), rest);
}

HK_NO_ASAN Block* take(Arena* a, size_t size)
{
    if (Block* b = bin_find(a, size))
    {
        bin_remove(a, b);
        b->size &= ~kFree;
        next_of(b)->size &= ~kPrevFree;
        cut(a, b, size);
        return b;
    }
    Block* b = at(a->top, 0);
    if (!raise_top(a, size))
        return nullptr;
    b->size = size; // what lies below the top is in use: no flag
    return b;
}

HK_NO_ASAN void* allocate(Arena* a, size_t n)
{
    if (n > a->limit)
        return refuse(a);
    size_t size = block_size_for(n);
    if (!within_limit(a, size))
        return refuse(a);
    Block* b = take(a, size);
    if (!b)
        return refuse(a);
    asan_unpoison(user_of(b), n);
    account(a, size_of(b));
    return user_of(b);
}

HK_NO_ASAN void release(Arena* a, void* user)
{
    Block* b = block_of(user);
    size_t size = size_of(b);
    asan_poison(user, size - sizeof(size_t));

    if (b->size & kPrevFree)
    {
        b = b->prev;
        bin_remove(a, b);
        size += size_of(b);
    }
    Block* next = at(b, size);
    if (!is_top(a, next) && (next->size & kFree))
    {
        bin_remove(a, next);
        size += size_of(next);
    }
    put_back(a, b, size);
}

// Lets `b` grow into what is free behind it.
HK_NO_ASAN bool grow_in_place(Arena* a, Block* b, size_t size)
{
    size_t old = size_of(b);
    Block* next = next_of(b);
    if (is_top(a, next))
    {
        if (!raise_top(a, size - old))
            return false;
        b->size += size - old;
        return true;
    }
    if (!(next->size & kFree) || old + size_of(next) < size)
        return false;
    bin_remove(a, next);
    b->size += size_of(next);
    next_of(b)->size &= ~kPrevFree;
    cut(a, b, size);
    return true;
}

HK_NO_ASAN void shrink(Arena* a, Block* b, size_t size)
{
    size_t old = size_of(b);
    size_t rest = old > size ? old - size : 0;
    if (rest < kMinBlock)
        return;
    Block* next = next_of(b);
    if (!is_top(a, next) && (next->size & kFree))
    {
        bin_remove(a, next);
        rest += size_of(next);
    }
    b->size -= old - size;
    put_back(a, at(b, size), rest);
    unaccount(a, old - size);
}

HK_NO_ASAN void* move(Arena* a, void* user, size_t osize, size_t n, size_t size)
{
    Block* moved = take(a, size);
    if (!moved)
        return refuse(a);
    asan_unpoison(user_of(moved), n);
    memcpy(user_of(moved), user, osize);
    size_t old = size_of(block_of(user));
    release(a, user);
    account(a, size_of(moved) - old);
    return user_of(moved);
}

HK_NO_ASAN void* resize(Arena* a, void* user, size_t osize, size_t n)
{
    Block* b = block_of(user);
    size_t old = size_of(b);
    if (n <= old - sizeof(size_t))
    {
        asan_poison(user, old - sizeof(size_t));
        asan_unpoison(user, n);
        shrink(a, b, block_size_for(n));
        return user;
    }
    if (n > a->limit)
        return refuse(a);
    size_t size = block_size_for(n);
    // When the block has to move both copies exist for a moment; only the result counts.
    if (!within_limit(a, size - old))
        return refuse(a);
    if (!grow_in_place(a, b, size))
        return move(a, user, osize, n, size);
    asan_unpoison(user, n);
    account(a, size_of(b) - old);
    return user;
}

void give_back(Arena* a, size_t keep)
{
    size_t page = page_size();
    uintptr_t from = round_up(uintptr_t(a->top) + sizeof(Block) + keep, page);
    uintptr_t to = round_up(uintptr_t(a->touched) + sizeof(Block), page);
    if (from >= to)
        return;
    madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    a->touched = reinterpret_cast<char*>(from) - sizeof(Block);
}

} // namespace

Arena* arena_create(size_t limit)
{
    limit = limit < kMinLimit ? kMinLimit : limit > kMaxLimit ? kMaxLimit : limit;
    size_t page = page_size();
    size_t usable = round_up(kFirstBlock + sizeof(Block) + limit + limit / 4, page);
    void* base = mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return nullptr;
    if (mprotect(static_cast<char*>(base) + usable, page, PROT_NONE) != 0)
    {
        munmap(base, usable + page);
        return nullptr;
    }
    madvise(base, usable < kSmallPagesFirst ? usable : kSmallPagesFirst, MADV_NOHUGEPAGE); // only advice

    // The mapping is zero: no bit set, nothing used.
    Arena* a = static_cast<Arena*>(base);
    a->mapped = usable + page;
    a->end = static_cast<char*>(base) + usable;
    a->top = a->touched = static_cast<char*>(base) + kFirstBlock;
    a->limit = limit;
    a->armed = true;
    asan_poison(a->top, size_t(a->end - a->top));
    return a;
}

void arena_destroy(Arena* a)
{
    if (!a)
        return;
    // Another mapping may get these addresses.
    asan_unpoison(a, a->mapped);
    munmap(a, a->mapped);
}

void* arena_alloc(void* ud, void* ptr, size_t osize, size_t nsize)
{
    Arena* a = static_cast<Arena*>(ud);
    if (nsize == 0)
    {
        if (ptr)
        {
            size_t size = size_of(block_of(ptr));
            release(a, ptr);
            unaccount(a, size);
        }
        return nullptr;
    }
    return ptr ? resize(a, ptr, osize, nsize) : allocate(a, nsize);
}

size_t arena_used(const Arena* a)
{
    return a->used;
}

size_t arena_peak(const Arena* a)
{
    return a->peak;
}

size_t arena_limit(const Arena* a)
{
    return a->limit;
}

void arena_set_limit(Arena* a, size_t bytes)
{
    size_t room = size_t(a->end - reinterpret_cast<char*>(a)) - kFirstBlock - sizeof(Block);
    a->limit = bytes < room ? bytes : room;
}

void arena_set_charge(Arena* a, const std::atomic<int64_t>* external)
{
    a->external = external;
}

void arena_on_pressure(Arena* a, size_t threshold, ArenaPressure fn, void* ctx)
{
    a->threshold = threshold;
    a->pressure = threshold ? fn : nullptr;
    a->pressure_ctx = ctx;
    a->armed = total(a) < threshold;
}

void arena_clear(Arena* a, size_t keep)
{
    char* begin = reinterpret_cast<char*>(a) + kFirstBlock;
    asan_poison(begin, size_t(a->touched - begin) + sizeof(Block));
    a->top = begin;
    a->used = 0;
    a->first_map = 0;
    memset(a->second_map, 0, sizeof(a->second_map));
    arena_rewound(a, keep);
}

void arena_trim(Arena* a, size_t keep)
{
    give_back(a, keep);
}

void arena_extent(const Arena* a, char** begin, char** top, char** touched)
{
    *begin = const_cast<char*>(reinterpret_cast<const char*>(a)) + kFirstBlock;
    *top = a->top;
    *touched = a->touched;
}

void arena_rewound(Arena* a, size_t keep)
{
    a->peak = a->used;
    a->armed = total(a) < a->threshold;
    give_back(a, keep);
}

HK_NO_ASAN void arena_walk(Arena* a, void (*fn)(void* ctx, char* begin, size_t size, ArenaSpan span), void* ctx)
{
    char* state = reinterpret_cast<char*>(&a->top);
    fn(ctx, state, size_t(reinterpret_cast<char*>(a->heads) - state), ArenaSpan::Bookkeeping);
    for (int i = 0; i < kFirst * kSecond; i++)
        if (a->second_map[i / kSecond] & (uint32_t(1) << (i % kSecond)))
            fn(ctx, reinterpret_cast<char*>(&a->heads[i]), sizeof(Block*), ArenaSpan::Bookkeeping);

    for (Block* b = at(a, kFirstBlock); !is_top(a, b); b = next_of(b))
    {
        if (b->size & kPrevFree)
            fn(ctx, reinterpret_cast<char*>(b), sizeof(Block*), ArenaSpan::Bookkeeping);
        char* header = reinterpret_cast<char*>(&b->size);
        bool free = b->size & kFree;
        fn(ctx, header, free ? sizeof(Block) - sizeof(Block*) : sizeof(size_t), ArenaSpan::Bookkeeping);
        if (!free)
            fn(ctx, user_of(b), size_of(b) - sizeof(size_t), ArenaSpan::Block);
    }
}

namespace
{

HK_NO_ASAN bool listed(const Arena* a, const Block* wanted)
{
    Bin bin = bin_of(size_of(wanted));
    if (!(a->second_map[bin.first] & (uint32_t(1) << bin.second)))
        return false;
    const Block* b = a->heads[bin.first * kSecond + bin.second];
    for (const Block* before = nullptr; b; before = b, b = b->next_free)
    {
        if (b->prev_free != before || !(b->size & kFree))
            return false;
        if (b == wanted)
            return true;
    }
    return false;
}

} // namespace

HK_NO_ASAN bool arena_check(const Arena* a)
{
    size_t used = 0, free_blocks = 0, rows = 0;
    Block* before = nullptr;
    Block* b = at(const_cast<Arena*>(a), kFirstBlock);
    for (; reinterpret_cast<char*>(b) < a->top; before = b, b = next_of(b))
    {
        bool prev_free = before && (before->size & kFree);
        bool is_free = b->size & kFree;
        if (size_of(b) < kMinBlock || size_of(b) % kAlign || bool(b->size & kPrevFree) != prev_free)
            return false;
        if (prev_free && (is_free || b->prev != before))
            return false;
        if (is_free && !listed(a, b))
            return false;
        is_free ? free_blocks++ : used += size_of(b);
    }
    for (int i = 0; i < kFirst * kSecond; i++)
        if (a->second_map[i / kSecond] & (uint32_t(1) << (i % kSecond)))
            for (const Block* f = a->heads[i]; f; f = f->next_free)
                rows++;
    return is_top(a, b) && !(before && (before->size & kFree)) && used == a->used && rows == free_blocks;
}

} // namespace hk
