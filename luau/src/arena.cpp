// A two-level segregated fit allocator with boundary tags: every operation takes constant time,
// neighbours merge when freed, and what is not in use at the top belongs to no block at all, so a
// young VM has a handful of bytes of bookkeeping to save.
#include "arena.h"

#include "arena_layout.h"
#include "asan.h"

#include <sys/mman.h>
#include <unistd.h>

namespace hk
{

using namespace layout;

namespace
{

constexpr size_t kMinLimit = 64 << 10;
constexpr size_t kMaxLimit = size_t(64) << 30;

// A free list is searched this far for a block that is large enough before a bin whose blocks all
// are is taken: without it a freed VM page would not serve the next VM page.
constexpr int kSearch = 4;

// On systems where huge pages are always on, the first touch would make 2 MiB resident; small VMs
// need a tenth of that.
constexpr size_t kSmallPagesFirst = size_t(2) << 20;

size_t page_size()
{
    static const size_t size = size_t(sysconf(_SC_PAGESIZE));
    return size;
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
    size_t now = total(a);
    if (now > a->peak)
        a->peak = now;
    if (a->pressure && a->armed && now >= a->threshold)
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
    void* base =
        mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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

void arena_rewound(Arena* a, size_t keep)
{
    a->peak = total(a);
    a->armed = total(a) < a->threshold;
    give_back(a, keep);
}

} // namespace hk
