// Reading an arena: what is live, for an image, and whether all is well, for tests.
#include "arena_layout.h"

namespace hk
{

using namespace layout;

void arena_extent(const Arena* a, char** begin, char** top, char** touched)
{
    *begin = const_cast<char*>(reinterpret_cast<const char*>(a)) + kFirstBlock;
    *top = a->top;
    *touched = a->touched;
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
