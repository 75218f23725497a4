#include "json_scratch.h"

#include "charge.h"
#include "json.h"

#include "ldo.h"

#include <exception>
#include <new>
#include <stdlib.h>
#include <string.h>

namespace hk
{

namespace
{

const size_t kKept = 1 << 20;
const size_t kLeastRegion = 1 << 10;

} // namespace

JsonScratch* json_scratch_new()
{
    return new (std::nothrow) JsonScratch;
}

void json_scratch_free(JsonScratch* scratch)
{
    delete scratch;
}

bool Region::resize(size_t size)
{
    void* moved = realloc(begin, size);
    if (!moved)
        return false;
    begin = static_cast<char*>(moved);
    room = size;
    return true;
}

void Region::release()
{
    free(begin);
    begin = nullptr;
    room = 0;
}

ScratchUse::ScratchUse(lua_State* L) : L(L), scratch(json_scratch(L))
{
    // What an earlier call left is a saving, not a need.
    if (charge(L, scratch->bytes()))
        charged = scratch->bytes();
    else
        scratch->release();
    if (++scratch->call == 0)
    {
        memset(scratch->recent, 0, sizeof(scratch->recent));
        scratch->call = 1;
    }
}

ScratchUse::~ScratchUse()
{
    uncharge(L, charged);
    // A call that failed may have failed for want of memory: then the next try must not start with all of this held.
    if (scratch->bytes() > kKept || std::uncaught_exceptions())
        scratch->release();
}

void ScratchUse::add(size_t bytes)
{
    if (!charge(L, bytes))
        luaD_throw(L, LUA_ERRMEM);
    charged += bytes;
}

void ScratchUse::grow(Region& region, size_t least)
{
    size_t size = region.size() ? region.size() : kLeastRegion;
    while (size < least)
        size *= 2;
    if (size == region.size())
        return;
    add(size - region.size());
    if (!region.resize(size))
        luaD_throw(L, LUA_ERRMEM);
}

void ScratchUse::index(size_t text_size)
{
    size_t held = scratch->tokens.bytes();
    if (TokenIndex::bytes_for(text_size) > held)
        add(TokenIndex::bytes_for(text_size) - held);
    if (!scratch->tokens.reserve(text_size))
        luaD_throw(L, LUA_ERRMEM);
}

} // namespace hk
