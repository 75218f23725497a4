// Buffers of the flat format, and the VM's accounts of host memory.
#include "vm.h"

namespace hk
{

Buf::~Buf()
{
    free(bytes);
}

void Buf::give_back()
{
    free(bytes);
    if (owner)
        hk_uncharge(owner, room);
    bytes = nullptr;
    room = 0;
}

bool Buf::grow(size_t n)
{
    size_t want = room ? room : 256;
    while (want < n)
        want *= 2;
    if (owner && !hk_charge(owner, want - room))
    {
        if (!insists)
            return false;
        owner->charged.fetch_add(int64_t(want - room), std::memory_order_relaxed);
    }
    void* p = realloc(bytes, want);
    if (!p)
    {
        if (owner)
            hk_uncharge(owner, want - room);
        return false;
    }
    bytes = static_cast<uint8_t*>(p);
    room = want;
    if (owner && want > kIdle)
        owner->roomy = true;
    return true;
}

void rest_buffers(hk_vm* vm)
{
    if (!vm->roomy || vm->depth > 0)
        return;
    vm->frames.rest();
    vm->roomy = false;
}

static void charge_to(hk_vm* owner, Frame& frame)
{
    frame.args.charge_to(owner);
    frame.out.charge_to(owner);
    frame.results.charge_to(owner);
}

static void rest(Frame& frame)
{
    frame.args.rest();
    frame.out.rest();
    frame.results.rest();
}

Frames::Frames(hk_vm* owner) : owner(owner)
{
    for (Frame& frame : shallow)
        charge_to(owner, frame);
}

bool Frames::make_deep()
{
    deep.reset(new (std::nothrow) Frame[kDeep]);
    for (size_t i = 0; deep && i < kDeep; i++)
        charge_to(owner, deep[i]);
    return deep != nullptr;
}

void Frames::rest()
{
    for (Frame& frame : shallow)
        hk::rest(frame);
    for (size_t i = 0; deep && i < kDeep; i++)
        hk::rest(deep[i]);
}

void Buf::drop_refs()
{
    for (hk_ref ref : refs)
        hk_release(owner, ref);
    refs.clear();
}

} // namespace hk

static size_t own_memory(const hk_vm* vm)
{
    return vm->useMalloc ? size_t(vm->mallocUsed.load(std::memory_order_relaxed)) : hk::arena_used(vm->arena);
}

extern "C" int hk_charge(hk_vm* vm, size_t bytes)
{
    if (bytes > size_t(INT64_MAX) / 2)
        return 0;
    int64_t before = vm->charged.fetch_add(int64_t(bytes), std::memory_order_relaxed);
    if (own_memory(vm) + size_t(before) + bytes <= vm->memoryLimit)
        return 1;
    vm->charged.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
    return 0;
}

extern "C" void hk_uncharge(hk_vm* vm, size_t bytes)
{
    vm->charged.fetch_sub(int64_t(bytes), std::memory_order_relaxed);
}
