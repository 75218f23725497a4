// Each kind that is listed here must be out of reach for whoever runs a script: the reason stands beside it. In builds with
// sanitizers, and in image_test, what a reset left alone is compared with the image.
#include "image_cold.h"

#include "asan.h"
#include "marks.h"

#include "lua.h"

#include "lgc.h"
#include "lmem.h"
#include "lobject.h"
#include "lstate.h"

#include <algorithm>

namespace hk
{
namespace
{

// Below this, to copy is cheaper than to start one more copy behind it. Sanitizers look at all of it.
constexpr size_t kWorth = HK_ASAN ? 1 : 256;

// Up to this size Luau puts arrays into pages, with a word before each that names its page.
constexpr size_t kPaged = 1024;

class Finder
{
public:
    explicit Finder(global_State* g) : g(g) {}

    std::vector<Range> found;
    bool out_of_memory = false;

    static bool on_object(void* context, lua_Page* page, GCObject* object)
    {
        Finder* self = static_cast<Finder*>(context);
        try
        {
            self->object(page, object);
        }
        catch (const std::bad_alloc&)
        {
            self->out_of_memory = true; // the walk runs through code that expects no exception
        }
        return false;
    }

    // What only a host sets while it makes a VM: destructors, metatables and names for tags of userdata. And what memory
    // categories hold that are not used.
    void settings()
    {
        add(g->udatadirect, sizeof(g->udatadirect));
        add(g->memcatbytes + kCategories, sizeof(g->memcatbytes) - kCategories * sizeof(*g->memcatbytes));
        add(g->udatagc, sizeof(g->udatagc));
        add(g->udatamark, sizeof(g->udatamark));
        add(g->udatamt, sizeof(g->udatamt));
        add(g->lightuserdataname, sizeof(g->lightuserdataname));
        add(g->udatadirectfields, sizeof(g->udatadirectfields));
    }

private:
    global_State* g;

    void object(lua_Page* page, GCObject* o)
    {
        switch (o->gch.tt)
        {
        case LUA_TSTRING:
            string(page, gco2ts(o));
            break;
        case LUA_TPROTO:
            proto(gco2p(o));
            break;
        case LUA_TTABLE:
            table(gco2h(o));
            break;
        case LUA_TFUNCTION:
            // Without upvalues a C function is constant: its environment is changed by nobody.
            if (gco2cl(o)->isC && gco2cl(o)->nupvalues == 0)
                block(page, o);
            break;
        default:
            break;
        }
    }

    // A string never changes. Its atom is looked up once, when somebody asks; that is done here, so that it stays.
    void string(lua_Page* page, TString* s)
    {
        if (g->cb.useratom)
            return;
        s->atom = -1;
        block(page, s);
    }

    // What the loader makes beside the code. The code itself is written: it caches where fields were found.
    void proto(Proto* p)
    {
        array(p->k, sizeof(*p->k) * size_t(p->sizek));
        array(p->p, sizeof(*p->p) * size_t(p->sizep));
        array(p->lineinfo, size_t(p->sizelineinfo));
        array(p->locvars, sizeof(*p->locvars) * size_t(p->sizelocvars));
        array(p->upvalues, sizeof(*p->upvalues) * size_t(p->sizeupvalues));
    }

    // Fields of a table that is read-only. No table becomes writable again; those that are filled past that mark when
    // somebody reads them have a metatable.
    void table(LuaTable* t)
    {
        if (t->readonly && !t->metatable && t->lsizenode > 0)
            array(t->node, sizeof(LuaNode) << t->lsizenode);
    }

    void block(lua_Page* page, void* at)
    {
        add(at, block_size(page));
    }

    void array(void* at, size_t size)
    {
        if (size == 0)
            return;
        if (size > kPaged)
            return add(at, size);
        char* begin = static_cast<char*>(at) - sizeof(lua_Page*);
        add(begin, block_size(*reinterpret_cast<lua_Page**>(begin)));
    }

    static size_t block_size(lua_Page* page)
    {
        int blocks, busy, block_size, page_size;
        luaM_getpageinfo(page, &blocks, &busy, &block_size, &page_size);
        return size_t(block_size);
    }

    void add(void* at, size_t size)
    {
        found.push_back({static_cast<char*>(at), size});
    }
};

void merge(std::vector<Range>* ranges)
{
    std::sort(ranges->begin(), ranges->end(), [](const Range& a, const Range& b) { return a.at < b.at; });
    size_t n = 0;
    for (const Range& r : *ranges)
    {
        Range* last = n ? &(*ranges)[n - 1] : nullptr;
        if (last && last->at + last->size >= r.at)
            last->size = std::max(last->size, size_t(r.at - last->at) + r.size);
        else
            (*ranges)[n++] = r;
    }
    ranges->resize(n);
}

} // namespace

std::vector<Range> cold_memory(lua_State* mainL)
{
    Finder finder(mainL->global);
    finder.settings();
    luaM_visitgco(mainL, &finder, Finder::on_object);
    if (finder.out_of_memory)
        throw std::bad_alloc();
    merge(&finder.found);
    return std::move(finder.found);
}

void split_cold(
    const std::vector<Range>& live, const std::vector<Range>& cold, std::vector<Range>* warm, std::vector<Range>* left
)
{
    auto next = cold.begin();
    for (const Range& r : live)
    {
        char *at = r.at, *end = r.at + r.size;
        while (next != cold.end() && next->at + next->size <= at)
            ++next;
        for (auto c = next; c != cold.end() && c->at < end; ++c)
        {
            char* from = std::max(at, c->at);
            char* to = std::min(end, c->at + c->size);
            if (to - from < ptrdiff_t(kWorth))
                continue;
            if (from > at)
                warm->push_back({at, size_t(from - at)});
            left->push_back({from, size_t(to - from)});
            at = to;
        }
        if (at < end)
            warm->push_back({at, size_t(end - at)});
    }
}

} // namespace hk
