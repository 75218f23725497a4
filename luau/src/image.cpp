// Which bytes of a VM are live is read from the allocator's block list and from the VM's own page
// headers, never guessed from contents: a table of nils is all zeros and live.
#include "image.h"

#include "arena.h"
#include "asan.h"
#include "image_cold.h"
#include "native_refs.h"
#include "random.h"

#include "lua.h"

#include "lgc.h"
#include "lmem.h"
#include "lstate.h"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

namespace hk
{
namespace
{

// Copying a few dead bytes is cheaper than starting another copy.
constexpr size_t kGap = 192;
constexpr size_t kKeep = 256 << 10;
constexpr int kMaxCollections = 16;

} // namespace

// The first `warm` ranges are always copied back, the others when a collection has begun since the last time.
struct Image
{
    Range* ranges;
    size_t count;
    size_t warm;
    char* data;
    size_t bytes;
    size_t keep;
    const global_State* g;
    double mark;
    TString* const* strings;
    int string_slots;
    NativeSnapshot native;
#if HK_ASAN
    char* shadow;
    char* shadowed;
    size_t shadow_bytes;
#endif
};

namespace
{

// A page of the VM that was not filled yet: its blocks are handed out from the end downwards, so
// what lies between its header and `start` was never in use.
struct Page
{
    char* begin;
    char* data;
    char* start;
    char* end;
};

// The first two words of Luau's lua_Page, the only ones there is no accessor for.
struct PageLinks
{
    PageLinks* prev;
    PageLinks* next;
};

// Reads a page through Luau's accessors. False when it does not look as expected: then its whole
// block is taken for live, which is slower and as correct.
bool read_page(lua_Page* page, Page* out)
{
    constexpr ptrdiff_t kMaxHeader = 128;
    char *start, *end;
    int blocks, busy, block_size, page_size;
    luaM_getpageinfo(page, &blocks, &busy, &block_size, &page_size);
    luaM_getpagewalkinfo(page, &start, &end, &busy, &block_size);
    char* begin = reinterpret_cast<char*>(page);
    char* data = end - ptrdiff_t(blocks) * block_size;
    if (data - begin < ptrdiff_t(sizeof(PageLinks)) || data - begin > kMaxHeader)
        return false;
    if (start < data || start > end || end > begin + page_size || busy > blocks)
        return false;
    *out = {begin, data, start, end};
    return true;
}

class Collector
{
public:
    void pages(lua_Page* const* lists, int count)
    {
        for (int i = 0; i < count; i++)
        {
            PageLinks* before = nullptr;
            for (auto* p = reinterpret_cast<PageLinks*>(lists[i]); p; before = p, p = p->next)
            {
                Page page;
                if (p->prev != before)
                    break; // not the list we know: the rest is copied whole
                if (read_page(reinterpret_cast<lua_Page*>(p), &page))
                    partial.push_back(page);
            }
        }
    }

    void walk(Arena* arena)
    {
        std::sort(partial.begin(), partial.end(), [](const Page& a, const Page& b) { return a.begin < b.begin; });
        arena_walk(arena, on_span, this);
    }

    // The walk runs through C++ code that does not expect exceptions.
    bool out_of_memory = false;
    std::vector<Range> ranges;

private:
    std::vector<Page> partial;

    static void on_span(void* ctx, char* begin, size_t size, ArenaSpan span)
    {
        Collector* self = static_cast<Collector*>(ctx);
        try
        {
            span == ArenaSpan::Block ? self->block(begin, size) : self->add(begin, size);
        }
        catch (const std::bad_alloc&)
        {
            self->out_of_memory = true;
        }
    }

    void block(char* begin, size_t size)
    {
        auto at =
            std::lower_bound(partial.begin(), partial.end(), begin, [](const Page& p, char* b) { return p.begin < b; });
        if (at == partial.end() || at->begin != begin || at->end > begin + size)
            return add(begin, size);
        add(begin, size_t(at->data - begin));
        add(at->start, size_t(at->end - at->start));
    }

    void add(char* begin, size_t size)
    {
        if (!ranges.empty())
        {
            Range& last = ranges.back();
            if (size_t(begin - (last.at + last.size)) <= kGap)
            {
                last.size = size_t(begin - last.at) + size;
                return;
            }
        }
        ranges.push_back({begin, size});
    }
};

bool can_save(lua_State* L, Arena* arena)
{
    global_State* g = L->global;
    return g->mainthread == L && g->ud == arena && g->frealloc == arena_alloc && !g->cagealloc && L->ci == L->base_ci &&
           L->nCcalls == 0 && L->status == LUA_OK;
}

// One collection may leave what another one frees: weak tables, and strings only they named.
void collect_all(lua_State* L)
{
    size_t before = SIZE_MAX;
    for (int i = 0; i < kMaxCollections && L->global->totalbytes < before; i++)
    {
        before = L->global->totalbytes;
        lua_gc(L, LUA_GCCOLLECT, 0);
    }
}

void find_live(lua_State* L, Arena* arena, Collector* live)
{
    global_State* g = L->global;
    live->pages(g->freepages, LUA_SIZECLASSES);
    live->pages(g->freegcopages, LUA_SIZECLASSES);
    for (LuauPageset& set : g->taggedpageset)
        live->pages(set.freepages, LUA_SIZECLASSES);
    live->walk(arena);
}

size_t size_of(const std::vector<Range>& ranges)
{
    size_t bytes = 0;
    for (const Range& r : ranges)
        bytes += r.size;
    return bytes;
}

Image* allocate_image(size_t count, size_t bytes)
{
    Image* image = static_cast<Image*>(calloc(1, sizeof(Image)));
    if (!image)
        return nullptr;
    image->count = count;
    image->bytes = bytes;
    image->keep = kKeep;
    image->ranges = static_cast<Range*>(malloc(count * sizeof(Range)));
    image->data = static_cast<char*>(malloc(bytes));
    if (image->ranges && image->data)
        return image;
    image_free(image);
    return nullptr;
}

// Marks the VM as one that is as this image has it: where a collection begins, and where another image is put back, the
// mark is gone. The field says when the last collection marked everything, and is read by the next one only after it has
// written it.
void put_mark(Image* image, lua_State* mainL)
{
    static std::atomic<int64_t> last{0};
    global_State* g = mainL->global;
    image->g = g;
    image->mark = double(-1 - last.fetch_add(1, std::memory_order_relaxed));
    g->gcstats.atomicstarttimestamp = image->mark;
    image->strings = g->strt.hash;
    image->string_slots = g->strt.size;
}

// Whether the collector rests since the VM was as the image has it, and the table of strings is the same: see
// cold_memory. A collection marks everything before it rests again.
HK_NO_ASAN bool is_cold(const Image* image)
{
    const global_State* g = image->g;
    return g->gcstate == GCSpause && g->gcstats.atomicstarttimestamp == image->mark && g->strt.hash == image->strings &&
           g->strt.size == image->string_slots;
}

#if HK_ASAN
// Luau poisons what it has not handed out inside its pages. The marks are a function of addresses,
// so those of the saved moment are kept and put back as bytes.
char* shadow_of(const void* p)
{
    size_t scale, offset;
    __asan_get_shadow_mapping(&scale, &offset);
    return reinterpret_cast<char*>((uintptr_t(p) >> scale) + offset);
}

bool save_shadow(Image* image, Arena* arena)
{
    char *begin, *top, *touched;
    arena_extent(arena, &begin, &top, &touched);
    image->shadowed = begin;
    image->shadow_bytes = size_t(top + 16 - begin) / 8;
    image->shadow = static_cast<char*>(malloc(image->shadow_bytes));
    if (image->shadow)
        raw_copy(image->shadow, shadow_of(begin), image->shadow_bytes);
    return image->shadow;
}

void restore_shadow(Image* image, Arena* arena)
{
    char *begin, *top, *touched;
    arena_extent(arena, &begin, &top, &touched);
    if (touched > top)
        asan_poison(top + 16, size_t(touched - top));
    raw_copy(shadow_of(image->shadowed), image->shadow, image->shadow_bytes);
}
#else
bool save_shadow(Image*, Arena*)
{
    return true;
}

void restore_shadow(Image*, Arena*) {}
#endif

void copy_out(Image* image, const std::vector<Range>& warm, const std::vector<Range>& left)
{
    image->warm = warm.size();
    std::copy(warm.begin(), warm.end(), image->ranges);
    std::copy(left.begin(), left.end(), image->ranges + warm.size());
    char* to = image->data;
    for (const Range *r = image->ranges, *end = r + image->count; r != end; to += r->size, r++)
        raw_copy(to, r->at, r->size);
}

HK_NO_ASAN bool same(const char* a, const char* b, size_t n)
{
#if HK_ASAN
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
#else
    return memcmp(a, b, n) == 0;
#endif
}

} // namespace

Image* image_save(lua_State* mainL, Arena* arena)
{
    if (!can_save(mainL, arena))
        return nullptr;
    std::vector<Range> warm, left;
    Collector live;
    try
    {
        collect_all(mainL);
        find_live(mainL, arena, &live);
        split_cold(live.ranges, cold_memory(mainL), &warm, &left);
    }
    catch (const std::exception&) // of Luau's own kind too: a collection may need memory
    {
        return nullptr;
    }
    Image* image = live.out_of_memory ? nullptr : allocate_image(warm.size() + left.size(), size_of(live.ranges));
    if (!image)
        return nullptr;
    if (!save_shadow(image, arena) || !native_snapshot(mainL, &image->native))
    {
        image_free(image);
        return nullptr;
    }
    put_mark(image, mainL);
    copy_out(image, warm, left);
    return image;
}

void image_restore(Image* image, Arena* arena, lua_State* mainL)
{
    native_rewind(image->native);
    size_t count = is_cold(image) ? image->warm : image->count;
    const char* from = image->data;
    for (const Range *r = image->ranges, *end = r + count; r != end; r++)
    {
        raw_copy(r->at, from, r->size);
        from += r->size;
    }
#if HK_ASAN
    if (!image_holds(image))
    {
        fprintf(stderr, "a run wrote what a reset leaves alone\n");
        abort();
    }
#endif
    restore_shadow(image, arena);
    arena_rewound(arena, image->keep);
    image_reseed(mainL);
}

bool image_holds(const Image* image)
{
    const char* from = image->data;
    for (const Range *r = image->ranges, *end = r + image->count; r != end; from += r->size, r++)
        if (r >= image->ranges + image->warm && !same(r->at, from, r->size))
            return false;
    return true;
}

size_t image_left_alone(const Image* image)
{
    if (!is_cold(image))
        return 0;
    size_t bytes = 0;
    for (const Range *r = image->ranges + image->warm, *end = image->ranges + image->count; r != end; r++)
        bytes += r->size;
    return bytes;
}

void image_free(Image* image)
{
    if (!image)
        return;
    native_snapshot_free(&image->native);
#if HK_ASAN
    free(image->shadow);
#endif
    free(image->data);
    free(image->ranges);
    free(image);
}

size_t image_bytes(const Image* image)
{
    return image->bytes;
}

size_t image_ranges(const Image* image)
{
    return image->count;
}

void image_set_keep(Image* image, size_t bytes)
{
    image->keep = bytes;
}

void image_reseed(lua_State* L)
{
    global_State* g = L->global;
    constexpr size_t kKeyWords = sizeof(g->ptrenckeynew) / sizeof(uint64_t);
    uint64_t words[kKeyWords + 1];
    random_words(words, kKeyWords + 1);
    g->rngstate = words[kKeyWords];
    // Written directly: lua_setpointerencodekey derives the same eight words by eight hashes, and
    // that is a good part of the time of a reset.
    memcpy(g->ptrenckeynew, words, sizeof(g->ptrenckeynew));
    g->ptrencactive = true;
}

} // namespace hk
