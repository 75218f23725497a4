// References to objects in a VM: the low bits are a slot of Luau's registry, the rest a serial number
// that is never given twice, so that a stale reference cannot pass for a newer one.
#include "vm.h"

#include <algorithm>

namespace hk
{

namespace
{

constexpr uint32_t kSlotBits = 24;
constexpr uint64_t kMaxSlots = uint64_t(1) << kSlotBits;
constexpr uint64_t kMaxSerial = uint64_t(1) << (64 - kSlotBits);

size_t slot_of(hk_ref ref)
{
    return size_t(ref & (kMaxSlots - 1));
}

bool is_live(const hk_vm* vm, hk_ref ref)
{
    size_t slot = slot_of(ref);
    return slot > 0 && slot < vm->refs.size() && vm->refs[slot] == ref;
}

bool is_saved(const hk_vm* vm, hk_ref ref)
{
    size_t slot = slot_of(ref);
    return vm->image && slot < vm->savedRefs.size() && vm->savedRefs[slot] == ref;
}

} // namespace

hk_ref make_ref(hk_vm* vm, lua_State* L, int idx)
{
    if (vm->lastSerial + 1 >= kMaxSerial)
        luaL_error(L, "this VM has given out all its references");
    int slot = lua_ref(L, idx);
    if (slot <= 0 || uint64_t(slot) >= kMaxSlots)
        luaL_error(L, "too many references held by the host");
    if (vm->refs.size() <= size_t(slot))
        vm->refs.resize(size_t(slot) * 2, 0);
    hk_ref ref = (++vm->lastSerial << kSlotBits) | hk_ref(slot);
    vm->refs[size_t(slot)] = ref;
    vm->liveRefs++;
    return ref;
}

bool push_ref(hk_vm* vm, lua_State* L, hk_ref ref)
{
    if (!is_live(vm, ref))
        return false;
    lua_rawgeti(L, LUA_REGISTRYINDEX, int(slot_of(ref)));
    return true;
}

void drop_ref(hk_vm* vm, hk_ref ref)
{
    // What the image holds comes back with every reset, so its references are never given up.
    if (!is_live(vm, ref) || is_saved(vm, ref))
        return;
    vm->refs[slot_of(ref)] = 0;
    vm->liveRefs--;
    lua_unref(vm->L, int(slot_of(ref)));
}

void save_refs(hk_vm* vm)
{
    vm->savedRefs = vm->refs;
    vm->savedSerial = vm->lastSerial;
}

void restore_refs(hk_vm* vm)
{
    vm->liveRefs = 0;
    if (vm->lastSerial == vm->savedSerial)
        return;                            // nothing was given out since
    vm->refs.resize(vm->savedRefs.size()); // a run that held many leaves no cost behind
    std::copy(vm->savedRefs.begin(), vm->savedRefs.end(), vm->refs.begin());
    // The next reset must not skip what this one did.
    vm->savedSerial = vm->lastSerial;
}

} // namespace hk

extern "C" void hk_release(hk_vm* vm, hk_ref ref)
{
    if (!vm->dead)
        hk::drop_ref(vm, ref);
}

extern "C" hk_ref hk_hold(hk_vm* vm, hk_ref ref)
{
    if (vm->dead || !hk::is_live(vm, ref))
        return 0;
    hk_ref held = 0;
    lua_State* L = hk::current(vm);
    int top = lua_gettop(L);
    int status = hk::protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 2, "holding a value");
            hk::push_ref(vm, L, ref);
            held = hk::make_ref(vm, L, -1);
        }
    );
    lua_settop(L, top);
    return status == 0 ? held : 0;
}
