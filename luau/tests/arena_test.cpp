// The arena allocator against a model: contents, alignment, exact limits, merging, pressure.
#include "../src/arena.h"
#include "../src/asan.h"
#include "check.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <random>
#include <vector>

using namespace hk;

namespace
{

struct ArenaDeleter
{
    void operator()(Arena* a) const
    {
        arena_destroy(a);
    }
};

typedef std::unique_ptr<Arena, ArenaDeleter> ArenaPtr;

struct Piece
{
    unsigned char* p;
    size_t n;
    unsigned char fill;
};

bool intact(const Piece& piece, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (piece.p[i] != piece.fill)
            return false;
    return true;
}

// Sizes as Luau asks for them: its pages, tables that double, and everything between.
size_t random_size(std::mt19937& rng)
{
    switch (rng() % 5)
    {
    case 0:
        return 16 * 1024 - 24;
    case 1:
        return 32 * 1024 - 24;
    case 2:
        return size_t(1024) << (rng() % 7);
    case 3:
        return 1 + rng() % 200;
    default:
        return 1 + rng() % 20000;
    }
}

void random_traffic(unsigned seed, int steps)
{
    std::mt19937 rng(seed);
    ArenaPtr arena(arena_create(4 << 20));
    std::vector<Piece> live;
    int refused = 0;
    for (int i = 0; i < steps; i++)
    {
        size_t n = random_size(rng);
        unsigned char fill = (unsigned char)rng();
        bool growing = i / 2000 % 2 == 0;
        unsigned action = rng() % 10;
        if (action < (growing ? 5u : 2u) || live.empty())
        {
            size_t used = arena_used(arena.get());
            unsigned char* p = (unsigned char*)arena_alloc(arena.get(), nullptr, 0, n);
            refused += !p;
            CHECK(p || used + n > (4 << 20) * 7 / 10);
            if (!p)
                continue;
            CHECK(uintptr_t(p) % 16 == 0);
            memset(p, fill, n);
            live.push_back({p, n, fill});
            continue;
        }
        size_t at = rng() % live.size();
        Piece& piece = live[at];
        if (action < (growing ? 6u : 7u))
        {
            CHECK(intact(piece, piece.n));
            CHECK(arena_alloc(arena.get(), piece.p, piece.n, 0) == nullptr);
            piece = live.back();
            live.pop_back();
            continue;
        }
        unsigned char* p = (unsigned char*)arena_alloc(arena.get(), piece.p, piece.n, n);
        CHECK(p || n > piece.n);
        refused += !p;
        if (!p)
            continue; // the old block must still stand: its content is checked when it is freed
        piece.p = p;
        CHECK(intact(piece, n < piece.n ? n : piece.n));
        memset(p, fill, n);
        piece = {p, n, fill};
        if (i % 64 == 0)
            CHECK(arena_check(arena.get()));
    }
    CHECK(refused > 0); // or this test never met the limit
    for (const Piece& piece : live)
    {
        CHECK(intact(piece, piece.n));
        arena_alloc(arena.get(), piece.p, piece.n, 0);
    }
    CHECK(arena_used(arena.get()) == 0);
    CHECK(arena_check(arena.get()));
    char *begin, *top, *touched;
    arena_extent(arena.get(), &begin, &top, &touched);
    CHECK(top == begin); // everything merged and went back to the top
}

void limit_is_exact()
{
    const size_t limit = 1 << 20;
    ArenaPtr arena(arena_create(limit));
    CHECK(arena_limit(arena.get()) == limit);
    std::vector<void*> blocks;
    while (void* p = arena_alloc(arena.get(), nullptr, 0, 1000))
        blocks.push_back(p);
    size_t each = arena_used(arena.get()) / blocks.size();
    CHECK(each >= 1000 && each <= 1024);
    CHECK(arena_used(arena.get()) <= limit && arena_used(arena.get()) + each > limit);

    // The rest, to the byte: a block takes its size and 8 bytes, rounded up to 16.
    size_t rest = limit - arena_used(arena.get());
    CHECK(arena_alloc(arena.get(), nullptr, 0, rest - 7) == nullptr);
    void* last = arena_alloc(arena.get(), nullptr, 0, rest - 8);
    CHECK(last != nullptr);
    CHECK(arena_used(arena.get()) == limit && arena_peak(arena.get()) == limit);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 1) == nullptr);
    CHECK(arena_alloc(arena.get(), last, rest - 8, rest - 7 + 16) == nullptr);
    CHECK(arena_alloc(arena.get(), blocks[0], 1000, 1) == blocks[0]); // shrinking never fails
    CHECK(arena_used(arena.get()) == limit - each + 32);

    arena_set_limit(arena.get(), limit / 2);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 1) == nullptr);
    CHECK(arena_alloc(arena.get(), blocks[1], 1000, 900) == blocks[1]);
    arena_set_limit(arena.get(), limit);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 500) != nullptr);
    CHECK(arena_alloc(arena.get(), nullptr, 0, SIZE_MAX) == nullptr);
    CHECK(arena_alloc(arena.get(), nullptr, 0, SIZE_MAX - 8) == nullptr);
    CHECK(arena_alloc(arena.get(), blocks[2], 1000, SIZE_MAX - 8) == nullptr);
    arena_set_limit(arena.get(), SIZE_MAX); // bounded by the reservation
    CHECK(arena_alloc(arena.get(), nullptr, 0, 2 * limit) == nullptr);
    CHECK(arena_check(arena.get()));
}

void host_memory_counts()
{
    ArenaPtr arena(arena_create(1 << 20));
    std::atomic<int64_t> external{0};
    arena_set_charge(arena.get(), &external);
    void* p = arena_alloc(arena.get(), nullptr, 0, 512 << 10);
    CHECK(p != nullptr);
    external = 400 << 10;
    CHECK(arena_alloc(arena.get(), nullptr, 0, 200 << 10) == nullptr);
    CHECK(arena_alloc(arena.get(), p, 512 << 10, 700 << 10) == nullptr);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 100 << 10) != nullptr);
    external = int64_t(1) << 50;
    CHECK(arena_alloc(arena.get(), nullptr, 0, 1) == nullptr);
    external = -5; // a counter that went wrong gives no credit
    CHECK(arena_alloc(arena.get(), nullptr, 0, 500 << 10) == nullptr);
    arena_set_charge(arena.get(), nullptr);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 200 << 10) != nullptr);
}

void pressure_is_told()
{
    ArenaPtr arena(arena_create(1 << 20));
    int calls = 0;
    auto count = [](void* ctx) { ++*static_cast<int*>(ctx); };
    arena_on_pressure(arena.get(), 512 << 10, count, &calls);
    void* a = arena_alloc(arena.get(), nullptr, 0, 500 << 10);
    CHECK(calls == 0);
    void* b = arena_alloc(arena.get(), nullptr, 0, 100 << 10);
    CHECK(calls == 1);
    void* c = arena_alloc(arena.get(), nullptr, 0, 100 << 10);
    CHECK(calls == 1); // still above
    arena_alloc(arena.get(), c, 100 << 10, 0);
    c = arena_alloc(arena.get(), nullptr, 0, 100 << 10);
    CHECK(calls == 1);
    arena_alloc(arena.get(), b, 100 << 10, 0);
    arena_alloc(arena.get(), c, 100 << 10, 0);
    a = arena_alloc(arena.get(), a, 500 << 10, 600 << 10);
    CHECK(calls == 2);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 2 << 20) == nullptr);
    CHECK(calls == 3); // refused
    arena_on_pressure(arena.get(), 0, count, &calls);
    CHECK(arena_alloc(arena.get(), a, 600 << 10, 2 << 20) == nullptr);
    CHECK(calls == 3);
}

void growth_is_in_place()
{
    ArenaPtr arena(arena_create(8 << 20));
    void* p = arena_alloc(arena.get(), nullptr, 0, 1024);
    void* grown = p;
    for (size_t n = 1024; n < (4 << 20); n *= 2)
        grown = arena_alloc(arena.get(), grown, n, n * 2);
    CHECK(grown == p); // nothing behind it but the top

    void* behind = arena_alloc(arena.get(), nullptr, 0, 4096);
    void* fence = arena_alloc(arena.get(), nullptr, 0, 64);
    CHECK(fence != nullptr);
    arena_alloc(arena.get(), behind, 4096, 0);
    CHECK(arena_alloc(arena.get(), p, 4 << 20, (4 << 20) + 4000) == p);
    CHECK(arena_check(arena.get()));
}

// A freed VM page must serve the next VM page, though its size lies inside a bin.
void pages_are_reused()
{
    ArenaPtr arena(arena_create(1 << 20));
    void* pages[8];
    for (void*& p : pages)
        p = arena_alloc(arena.get(), nullptr, 0, 16 * 1024 - 24);
    arena_alloc(arena.get(), pages[3], 16 * 1024 - 24, 0);
    CHECK(arena_alloc(arena.get(), nullptr, 0, 16 * 1024 - 24) == pages[3]);
}

// Tables that grow by doubling beside long-lived pages must be able to use most of the limit.
void fragmentation_is_bounded()
{
    ArenaPtr arena(arena_create(16 << 20));
    std::mt19937 rng(7);
    std::vector<Piece> tables;
    for (bool full = false; !full;)
    {
        arena_alloc(arena.get(), nullptr, 0, 16 * 1024 - 24);
        if (tables.size() < 50)
            tables.push_back({(unsigned char*)arena_alloc(arena.get(), nullptr, 0, 2048), 2048, 0});
        Piece& t = tables[rng() % tables.size()];
        unsigned char* p = (unsigned char*)arena_alloc(arena.get(), t.p, t.n, t.n * 2);
        full = !p;
        if (p)
            t = {p, t.n * 2, 0};
        CHECK(p || arena_used(arena.get()) + t.n > (16 << 20) * 8 / 10);
    }
    CHECK(arena_check(arena.get()));
}

size_t resident(char* from, char* to)
{
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    char* first = (char*)(uintptr_t(from) & ~(page - 1));
    std::vector<unsigned char> map((size_t(to - first) + page - 1) / page);
    if (mincore(first, size_t(to - first), map.data()) != 0)
        return SIZE_MAX;
    size_t n = 0;
    for (unsigned char c : map)
        n += c & 1;
    return n * page;
}

void trim_gives_memory_back()
{
    ArenaPtr arena(arena_create(16 << 20));
    const size_t n = 8 << 20;
    void* p = arena_alloc(arena.get(), nullptr, 0, n);
    memset(p, 1, n);
    char *begin, *top, *touched;
    arena_extent(arena.get(), &begin, &top, &touched);
    CHECK(resident(begin, touched) >= n);
    arena_alloc(arena.get(), p, n, 0);
    arena_rewound(arena.get(), 64 << 10);
    CHECK(resident(begin, touched) <= (80 << 10));
    char* trimmed;
    arena_extent(arena.get(), &begin, &top, &trimmed);
    CHECK(top == begin && trimmed < begin + (80 << 10));
    CHECK(arena_alloc(arena.get(), nullptr, 0, n) == p);
    arena_rewound(arena.get(), 0);
    memset(p, 2, n);
}

// What the sanitizer must object to: both ends of a block, what shrank away, what was freed.
void sanitizer_sees_blocks()
{
#if HK_ASAN
    ArenaPtr arena(arena_create(1 << 20));
    char* p = (char*)arena_alloc(arena.get(), nullptr, 0, 1003);
    CHECK(!__asan_region_is_poisoned(p, 1003));
    CHECK(__asan_address_is_poisoned(p - 1) && __asan_address_is_poisoned(p + 1003));
    CHECK(arena_alloc(arena.get(), p, 1003, 500) == p);
    CHECK(!__asan_region_is_poisoned(p, 500) && __asan_address_is_poisoned(p + 500));
    CHECK(arena_alloc(arena.get(), p, 500, 900) == p);
    CHECK(!__asan_region_is_poisoned(p, 900) && __asan_address_is_poisoned(p + 900));
    arena_alloc(arena.get(), p, 900, 0);
    CHECK(__asan_address_is_poisoned(p) && __asan_address_is_poisoned(p + 899));
#endif
}

} // namespace

int main()
{
    for (unsigned seed = 1; seed <= 5; seed++)
        random_traffic(seed, 20000);
    limit_is_exact();
    host_memory_counts();
    pressure_is_told();
    growth_is_in_place();
    pages_are_reused();
    fragmentation_is_bounded();
    trim_gives_memory_back();
    sanitizer_sees_blocks();
    return check_result("arena_test");
}
