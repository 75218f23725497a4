// Host memory of the JSON codecs: one set for each VM, reused by its calls, charged to the VM while a call uses it.
#pragma once

#include "json_simd.h"

#include "lua.h"

#include <stddef.h>
#include <stdint.h>

struct TString;

namespace hk
{

// Plain growable memory. What it holds survives growth.
class Region
{
public:
    Region() = default;
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    ~Region()
    {
        release();
    }

    char* data() const
    {
        return begin;
    }
    size_t size() const
    {
        return room;
    }
    bool resize(size_t size); // false: no memory, and nothing changed
    void release();

private:
    char* begin = nullptr;
    size_t room = 0;
};

// Short keys of the running call by their first and last bytes: interning them again would cost more than all the rest
// of an object. Nothing is collected during a call, so the strings stay; the call's number tells old entries.
struct RecentKey
{
    uint64_t head;
    uint64_t tail;
    TString* string;
    uint32_t call;
    uint32_t size;
};

const size_t kRecentKeys = 128;

} // namespace hk

struct JsonScratch
{
    hk::TokenIndex tokens;
    hk::Region values; // decode: values whose container is still open
    hk::Region text;   // decode: a string without its escapes; encode: the output
    hk::Region order;  // encode: keys of the open objects
    hk::RecentKey recent[hk::kRecentKeys] = {};
    uint32_t call = 0;

    size_t bytes() const
    {
        return tokens.bytes() + values.size() + text.size() + order.size();
    }
    void release()
    {
        tokens.release();
        values.release();
        text.release();
        order.release();
    }
};

namespace hk
{

// One call's use of the scratch: charges what is there and what is added, gives it all back, keeps at most 1 MiB.
class ScratchUse
{
public:
    explicit ScratchUse(lua_State* L);
    ~ScratchUse();
    ScratchUse(const ScratchUse&) = delete;
    ScratchUse& operator=(const ScratchUse&) = delete;

    JsonScratch& operator*() const
    {
        return *scratch;
    }
    JsonScratch* operator->() const
    {
        return scratch;
    }

    // Both raise Luau's memory error when the VM's limit or the host's memory is reached.
    void grow(Region& region, size_t least);
    void index(size_t text_size);

private:
    lua_State* L;
    JsonScratch* scratch;
    size_t charged = 0;

    void add(size_t bytes);
};

} // namespace hk
