// A VM's life: making, saving, resetting, closing.
#include "vm.h"

#include "lstate.h"
#include "lgc.h"

#include <mutex>
#include <string.h>
#include <new>
#include <stdlib.h>

namespace hk
{

void seal_libraries(hk_vm* vm, lua_State* L);

namespace
{

void on_pressure(void* ud)
{
    hk_vm* vm = static_cast<hk_vm*>(ud);
    if (!vm->L)
        return;
    vm->attention.fetch_or(kAttendCollect, std::memory_order_relaxed);
    install_interrupt(vm);
}

// Luau's allocation function over malloc, with the same limit as an arena has.
void* malloc_alloc(void* ud, void* ptr, size_t osize, size_t nsize)
{
    hk_vm* vm = static_cast<hk_vm*>(ud);
    if (nsize == 0)
    {
        free(ptr);
        vm->mallocUsed.fetch_sub(int64_t(osize), std::memory_order_relaxed);
        return nullptr;
    }
    size_t used =
        size_t(vm->mallocUsed.load(std::memory_order_relaxed)) + size_t(vm->charged.load(std::memory_order_relaxed));
    if (nsize > osize && used + (nsize - osize) > vm->memoryLimit)
    {
        on_pressure(vm);
        return nullptr;
    }
    void* p = realloc(ptr, nsize);
    if (p)
        vm->mallocUsed.fetch_add(int64_t(nsize) - int64_t(osize), std::memory_order_relaxed);
    return p;
}

// What a new VM consists of: the arena, and what was found out about the VM in it during set-up.
struct Young
{
    Arena* arena;
    size_t limit;
    lua_State* L;
    Image* image;
    int fixed[kFixedRefs];
    lua_CFunction resumeCall, wrapCall;
};

// Closed VMs, put back to the moment after their set-up: the next VM of the same limit is one of
// them, and takes as long as a reset.
class YoungVMs
{
public:
    YoungVMs()
    {
        idle.reserve(kMost);
    }

    bool take(size_t limit, Young* out)
    {
        std::lock_guard<std::mutex> hold(lock);
        for (size_t i = idle.size(); i-- > 0;)
        {
            if (idle[i].limit != limit)
                continue;
            *out = idle[i];
            idle.erase(idle.begin() + ptrdiff_t(i));
            return true;
        }
        return false;
    }

    void put(const Young& young)
    {
        image_restore(young.image, young.arena, young.L);
        std::lock_guard<std::mutex> hold(lock);
        idle.push_back(young); // never more than kMost, for which there is room
    }

    // Keeps the image of a VM that was set up just now, if that pays: it takes as long as the set-up,
    // and a process whose VMs all live to its end needs none.
    Image* keep(lua_State* L, Arena* arena)
    {
        if (!reserve())
            return nullptr;
        Image* image = image_save(L, arena);
        if (image)
        {
            image_set_keep(image, kResident);
            return image;
        }
        std::lock_guard<std::mutex> hold(lock);
        kept--;
        return nullptr;
    }

    void closed_one()
    {
        std::lock_guard<std::mutex> hold(lock);
        closed = true;
    }

private:
    static constexpr int kMost = 16;
    static constexpr size_t kResident = size_t(512) << 10; // bytes of each: a small VM and its run
    std::mutex lock;
    std::vector<Young> idle;
    int kept = 0; // images, of idle VMs and of others
    bool closed = false;

    // Counts one more image; where there are enough, the oldest idle VM makes room.
    bool reserve()
    {
        Young oldest;
        {
            std::lock_guard<std::mutex> hold(lock);
            if (!closed || (kept == kMost && idle.empty()))
                return false;
            if (kept < kMost)
            {
                kept++;
                return true;
            }
            oldest = idle.front();
            idle.erase(idle.begin());
        }
        image_free(oldest.image);
        arena_destroy(oldest.arena);
        return true;
    }
};

YoungVMs& young_vms()
{
    static YoungVMs* vms = new YoungVMs; // VMs may be closed while the process ends
    return *vms;
}

lua_State* new_state(hk_vm* vm)
{
    if (vm->useMalloc)
        return lua_newstate(malloc_alloc, vm);
    vm->arena = arena_create(vm->reserved);
    if (!vm->arena)
        return nullptr;
    arena_set_charge(vm->arena, &vm->charged);
    return lua_newstate(arena_alloc, vm->arena);
}

void attach(hk_vm* vm, lua_State* L)
{
    vm->L = L;
    L->global->cb.userdata = vm;
    L->global->cb.preresume = before_resume;
    L->global->cb.postresume = after_resume;
}

// False without memory.
bool set_up(hk_vm* vm)
{
    lua_State* L = new_state(vm);
    if (!L)
        return false;
    attach(vm, L);
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            open_libraries(vm, L);
            seal_libraries(vm, L);
        }
    );
    if (status != 0)
        return false;
    if (vm->arena)
        vm->young = young_vms().keep(L, vm->arena);
    image_reseed(L);
    return true;
}

// False when there is none.
bool take_young(hk_vm* vm)
{
    Young young;
    if (vm->useMalloc || !young_vms().take(vm->reserved, &young))
        return false;
    vm->arena = young.arena;
    vm->young = young.image;
    memcpy(vm->fixed, young.fixed, sizeof(young.fixed));
    vm->resumeCall = young.resumeCall;
    vm->wrapCall = young.wrapCall;
    arena_set_charge(vm->arena, &vm->charged);
    attach(vm, young.L);
    return true;
}

void destroy(hk_vm* vm)
{
    if (vm->L && vm->useMalloc)
        lua_close(vm->L);
    else if (vm->L)
        image_drop_vm(vm->L);
    image_free(vm->image);
    young_vms().closed_one();
    if (vm->young)
    {
        arena_on_pressure(vm->arena, 0, nullptr, nullptr);
        arena_set_charge(vm->arena, nullptr);
        Young young{vm->arena, vm->reserved, vm->L, vm->young, {}, vm->resumeCall, vm->wrapCall};
        memcpy(young.fixed, vm->fixed, sizeof(young.fixed));
        young_vms().put(young);
    }
    else
        arena_destroy(vm->arena);
    json_scratch_free(vm->json);
    profile_free(vm);
    delete vm;
}

} // namespace

void push_own_globals(lua_State* L)
{
    lua_newtable(L);
    lua_newtable(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_setfield(L, -2, "__index");
    lua_setreadonly(L, -1, true);
    lua_setmetatable(L, -2);
    lua_setsafeenv(L, -1, true);
}

void set_memory_limit(hk_vm* vm, size_t bytes)
{
    vm->memoryLimit = bytes;
    if (vm->arena)
        arena_set_limit(vm->arena, bytes);
}

// Garbage is collected early when what is left of the limit halves, so that a run fails only for
// what it really holds. Steps are never smaller than a 64th of the limit.
void arm_pressure(hk_vm* vm)
{
    if (!vm->arena)
        return;
    size_t used = arena_used(vm->arena) + size_t(vm->charged.load(std::memory_order_relaxed));
    size_t left = vm->memoryLimit > used ? vm->memoryLimit - used : 0;
    size_t step = left / 2 > vm->memoryLimit / 64 ? left / 2 : vm->memoryLimit / 64;
    size_t floor = vm->memoryLimit / 2;
    size_t threshold = used + step > floor ? used + step : floor;
    arena_on_pressure(vm->arena, threshold, on_pressure, vm);
}

} // namespace hk

using namespace hk;

// An hk_vm with these options and no Luau state yet; nullptr without memory.
static hk_vm* plain_vm(const hk_vm_options& options)
{
    hk_vm* vm = new (std::nothrow) hk_vm;
    if (!vm)
        return nullptr;
    vm->host = options.host;
    vm->hooks = options.hooks;
    vm->useMalloc = (options.flags & HK_VM_MALLOC) != 0;
    vm->native = (options.flags & HK_VM_NATIVE) != 0;
    vm->eachLine = (options.flags & HK_VM_LINES) != 0;
    vm->reserved = options.memory_limit ? options.memory_limit : HK_DEFAULT_MEMORY;
    vm->memoryLimit = vm->reserved;
    return vm;
}

extern "C" hk_result hk_vm_new(const hk_vm_options* options, hk_vm** out)
{
    set_fast_flags();
    *out = nullptr;
    hk_result r = {};
    r.status = HK_ERR_MEMORY;
    hk_vm* vm = plain_vm(options ? *options : hk_vm_options{});
    if (!vm)
        return r;
    vm->json = json_scratch_new();
    if (!vm->json || !(take_young(vm) || set_up(vm)))
    {
        destroy(vm);
        return r;
    }
    set_memory_limit(vm, vm->reserved);
    arm_pressure(vm);
    r.status = HK_OK;
    *out = vm;
    return r;
}

extern "C" void hk_vm_close(hk_vm* vm)
{
    if (vm)
        destroy(vm);
}

extern "C" hk_result hk_vm_save(hk_vm* vm)
{
    if (vm->dead)
        return killed_result(vm);
    if (!vm->arena)
        return text_result(vm, HK_ERR_INVALID, "a VM with memory from malloc has no image");
    if (vm->depth > 0 || !vm->running.empty())
        return text_result(vm, HK_ERR_INVALID, "an image cannot be saved while the VM runs");
    if (vm->image)
        image_free(vm->image);
    lua_settop(vm->L, 0);
    vm->image = nullptr;
    if (vm->native)
        ready_native(vm);
    vm->image = image_save(vm->L, vm->arena);
    if (!vm->image)
        return text_result(vm, HK_ERR_MEMORY, "not enough memory for the image");
    save_refs(vm);
    return hk_result{};
}

extern "C" hk_result hk_vm_reset(hk_vm* vm)
{
    if (!vm->image)
        return text_result(vm, HK_ERR_INVALID, "the VM has no saved image to go back to");
    if (vm->depth > 0 || !vm->running.empty())
        return text_result(vm, HK_ERR_INVALID, "the VM cannot be reset while it runs");
    image_restore(vm->image, vm->arena, vm->L);
    restore_refs(vm);
    vm->unused.clear();
    vm->dead = false;
    vm->running.blocked = 0;
    vm->waiting = false;
    vm->impure = false;
    vm->output.clear();
    vm->trace.clear();
    vm->subject.clear();
    vm->payload = FlatIn();
    vm->attention.store(0, std::memory_order_seq_cst);
    rest_buffers(vm);
    arm_pressure(vm);
    return hk_result{};
}

extern "C" void hk_vm_stats(hk_vm* vm, hk_stats* out)
{
    *out = {};
    out->memory_limit = vm->memoryLimit;
    size_t charged = size_t(vm->charged.load(std::memory_order_relaxed));
    out->memory_used =
        charged + (vm->arena ? arena_used(vm->arena) : size_t(vm->mallocUsed.load(std::memory_order_relaxed)));
    // What was charged after the last allocation is in no peak of the arena yet.
    size_t peak = vm->arena ? arena_peak(vm->arena) : 0;
    out->memory_peak = peak > out->memory_used ? peak : out->memory_used;
    out->host_calls = vm->hostCalls;
    out->output = vm->outputTotal;
    out->image_bytes = vm->image ? image_bytes(vm->image) : 0;
    out->refs = vm->liveRefs;
    out->checks = vm->checks;
}

// A table's address as tostring shows it, anywhere in a string.
static bool shows_address(const char* s, size_t size)
{
    if (size < 4 + 8)
        return false;
    const char* end = s + size;
    for (const char* p = s; (p = static_cast<const char*>(memmem(p, size_t(end - p), ": 0x", 4))); p += 4)
        if (end - p >= 4 + 8)
            return true;
    return false;
}

extern "C" void hk_observe(hk_vm* vm)
{
    if (vm->dead)
        return;
    vm->impure = false;
    vm->observedRandom = vm->L->global->rngstate;
    // A string that showed an address must still be there when it is looked for.
    lua_gc(vm->L, LUA_GCSTOP, 0);
}

extern "C" int hk_vm_impure(hk_vm* vm)
{
    if (vm->dead)
        return 1;
    if (vm->L->global->rngstate != vm->observedRandom)
        vm->impure = true;
    stringtable& strings = vm->L->global->strt;
    for (int i = 0; i < strings.size && !vm->impure; i++)
        for (TString* s = strings.hash[i]; s && !vm->impure; s = s->next)
            vm->impure = shows_address(getstr(s), s->len);
    lua_gc(vm->L, LUA_GCRESTART, 0);
    return vm->impure ? 1 : 0;
}

extern "C" const char* hk_luau_version(void)
{
    return HK_LUAU_VERSION;
}
