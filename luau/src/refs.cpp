// References to objects in a VM: registry slot, generation of the slot, epoch of the VM.
#include "vm.h"

namespace hk
{

namespace
{

constexpr uint32_t kSlotBits = 24;
constexpr uint32_t kMaxSlots = 1u << kSlotBits;

struct Parts
{
    uint32_t epoch;
    uint8_t generation;
    uint32_t slot;
};

Parts split(hk_ref ref)
{
    return {uint32_t(ref >> 32), uint8_t(ref >> kSlotBits), uint32_t(ref) & (kMaxSlots - 1)};
}

bool is_live(const hk_vm* vm, const Parts& r)
{
    if (r.slot == 0 || r.epoch == 0 || r.slot >= vm->generations.size())
        return false;
    if (r.epoch != vm->epoch && r.epoch > vm->imageEpoch)
        return false;
    return r.epoch <= vm->epoch && vm->generations[r.slot] == r.generation;
}

} // namespace

hk_ref make_ref(hk_vm* vm, lua_State* L, int idx)
{
    int slot = lua_ref(L, idx);
    if (slot <= 0 || uint32_t(slot) >= kMaxSlots)
        luaL_error(L, "too many references held by the host");
    if (vm->generations.size() <= size_t(slot))
        vm->generations.resize(size_t(slot) * 2, 0);
    vm->liveRefs++;
    return (hk_ref(vm->epoch) << 32) | (hk_ref(vm->generations[slot]) << kSlotBits) | hk_ref(slot);
}

bool push_ref(hk_vm* vm, lua_State* L, hk_ref ref)
{
    Parts r = split(ref);
    if (!is_live(vm, r))
        return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, int(r.slot));
    return true;
}

void drop_ref(hk_vm* vm, hk_ref ref)
{
    Parts r = split(ref);
    // What the image holds comes back with every reset, so its references are never given up.
    if (!is_live(vm, r) || (r.epoch <= vm->imageEpoch && vm->image))
        return;
    vm->generations[r.slot]++;
    vm->liveRefs--;
    lua_unref(vm->L, int(r.slot));
}

} // namespace hk

extern "C" void hk_release(hk_vm* vm, hk_ref ref)
{
    if (!vm->dead)
        hk::drop_ref(vm, ref);
}
