// The flat value buffer: growable output, bounds-checked input, and the two codecs over them.
#pragma once

#include "hukilau.h"

#include "lua.h"

#include <stdlib.h>
#include <string.h>
#include <string>
#include <vector>

struct hk_vm;

namespace hk
{

// A byte buffer that grows by doubling and may be charged to a VM's memory limit.
class Buf
{
public:
    Buf() = default;
    Buf(const Buf&) = delete;
    Buf& operator=(const Buf&) = delete;
    ~Buf();

    // Growth is charged to vm from here on; nullptr: to nobody.
    void charge_to(hk_vm* vm)
    {
        owner = vm;
    }
    const uint8_t* data() const
    {
        return bytes;
    }
    uint8_t* data()
    {
        return bytes;
    }
    size_t size() const
    {
        return used;
    }
    size_t capacity() const
    {
        return room;
    }
    // Growth succeeds beyond the limit too, and is charged all the same: for reports of failures,
    // which must get out also when it is memory that failed.
    bool insist(bool on)
    {
        bool before = insists;
        insists = on;
        return before;
    }
    void clear()
    {
        used = 0;
        if (!refs.empty())
            drop_refs();
        if (room > kKeep)
            give_back();
    }
    // Between two runs: what this one grew to is not the next one's to pay for.
    void rest()
    {
        used = 0;
        if (!refs.empty())
            drop_refs();
        if (room > kIdle)
            give_back();
    }
    // The data names an object of the VM, which lives as long as the data.
    void note_ref(hk_ref ref)
    {
        refs.push_back(ref);
    }
    void resize(size_t n)
    {
        used = n;
    }
    // False when memory or the limit is exhausted; nothing is lost then.
    bool reserve(size_t n)
    {
        return n <= room || grow(n);
    }
    bool put(const void* p, size_t n)
    {
        if (room - used < n && !grow(used + n))
            return false;
        if (n)
            memcpy(bytes + used, p, n);
        used += n;
        return true;
    }
    bool put_u8(uint8_t v)
    {
        return put(&v, 1);
    }
    bool put_u32(uint32_t v)
    {
        return put(&v, 4);
    }
    bool put_tagged(uint8_t tag, const void* p, size_t n)
    {
        if (room - used < n + 1 && !grow(used + n + 1))
            return false;
        bytes[used] = tag;
        memcpy(bytes + used + 1, p, n);
        used += n + 1;
        return true;
    }
    // The head of a table that is an array of so many values, which follow.
    bool put_list(uint32_t length)
    {
        uint8_t head[9] = {0};
        memcpy(head + 1, &length, 4);
        return put_tagged(HK_T_TABLE, head, 9);
    }
    bool put_number(double n)
    {
        return put_tagged(HK_T_NUMBER, &n, 8);
    }
    bool put_text(uint8_t tag, const char* p, size_t n)
    {
        uint32_t size = uint32_t(n);
        if (room - used < n + 5 && !grow(used + n + 5))
            return false;
        uint8_t* to = bytes + used;
        to[0] = tag;
        memcpy(to + 1, &size, 4);
        memcpy(to + 5, p, n);
        used += n + 5;
        return true;
    }

private:
    // A buffer larger than this is given back when it is cleared.
    static constexpr size_t kKeep = size_t(1) << 20;
    // And one larger than this between two runs.
    static constexpr size_t kIdle = size_t(4) << 10;

    void give_back();
    void drop_refs();
    bool grow(size_t n);

    uint8_t* bytes = nullptr;
    size_t used = 0;
    size_t room = 0;
    hk_vm* owner = nullptr;
    std::vector<hk_ref> refs;
    bool insists = false;
};

struct Insist
{
    Buf& out;
    bool before;
    explicit Insist(Buf& out) : out(out), before(out.insist(true)) {}
    ~Insist()
    {
        out.insist(before);
    }
};

// A read position in flat values that somebody else owns.
struct FlatIn
{
    const uint8_t* p = nullptr;
    const uint8_t* end = nullptr;
    uint32_t count = 0;

    FlatIn() = default;
    FlatIn(const uint8_t* data, size_t size, uint32_t n) : p(data), end(data ? data + size : nullptr), count(n) {}
    size_t left() const
    {
        return size_t(end - p);
    }
    bool take(void* out, size_t n)
    {
        if (left() < n)
            return false;
        memcpy(out, p, n);
        p += n;
        return true;
    }
};

// What becomes of a value that has no content to copy.
enum Keep
{
    kCopy,        // an error
    kDescribe,    // a text such as "<function>", and so are tables that lead into themselves
    kKeepObjects, // functions, threads and other objects become references
    kKeepTables,  // and so do tables, unless they are inside of others
};

// Appends the values at stack positions first..first+count-1 of L. On failure `why` names value and path
// and the buffer is back at its old size. Runs only under protect: making references may raise.
bool encode_values(hk_vm* vm, lua_State* L, int first, int count, Keep keep, Buf& out, std::string& why);

// Pushes one value, or returns false with a text in `why`. Runs only under protect.
bool decode_value(hk_vm* vm, lua_State* L, FlatIn& in, const char*& why);
// Pushes in.count values.
bool decode_values(hk_vm* vm, lua_State* L, FlatIn& in, const char*& why);

} // namespace hk
