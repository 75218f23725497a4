// A VM's life: making, saving, resetting, closing, and the small reads and writes of the host.
#include "vm.h"

#include "lapi.h"
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
    size_t used = size_t(vm->mallocUsed.load(std::memory_order_relaxed)) + size_t(vm->charged.load(std::memory_order_relaxed));
    if (nsize > osize && used + (nsize - osize) > vm->memoryLimit)
        return nullptr;
    void* p = realloc(ptr, nsize);
    if (p)
        vm->mallocUsed.fetch_add(int64_t(nsize) - int64_t(osize), std::memory_order_relaxed);
    return p;
}

void on_pressure(void* ud)
{
    hk_vm* vm = static_cast<hk_vm*>(ud);
    if (!vm->L)
        return;
    vm->attention.fetch_or(kAttendCollect, std::memory_order_relaxed);
    install_interrupt(vm);
}

// Arenas of closed VMs: their pages are there already, so a new VM in one takes a third of the time.
class IdleArenas
{
public:
    IdleArenas()
    {
        idle.reserve(kMost);
    }

    Arena* take(size_t limit)
    {
        std::lock_guard<std::mutex> hold(lock);
        for (size_t i = 0; i < idle.size(); i++)
        {
            if (idle[i].limit != limit)
                continue;
            Arena* arena = idle[i].arena;
            idle.erase(idle.begin() + ptrdiff_t(i));
            return arena;
        }
        return nullptr;
    }

    void put(Arena* arena, size_t limit)
    {
        arena_on_pressure(arena, 0, nullptr, nullptr);
        arena_set_charge(arena, nullptr);
        arena_set_limit(arena, limit);
        arena_clear(arena, kKeep);
        std::lock_guard<std::mutex> hold(lock);
        if (idle.size() >= kMost)
        {
            arena_destroy(idle.front().arena);
            idle.erase(idle.begin());
        }
        idle.push_back({arena, limit});
    }

private:
    static constexpr size_t kMost = 16;
    static constexpr size_t kKeep = size_t(512) << 10; // resident bytes of each: a small VM and its run
    struct Entry
    {
        Arena* arena;
        size_t limit;
    };
    std::mutex lock;
    std::vector<Entry> idle;
};

IdleArenas& idle_arenas()
{
    static IdleArenas* arenas = new IdleArenas; // VMs may be closed while the process ends
    return *arenas;
}

lua_State* new_state(hk_vm* vm)
{
    if (vm->useMalloc)
        return lua_newstate(malloc_alloc, vm);
    vm->arena = idle_arenas().take(vm->reserved);
    if (!vm->arena)
        vm->arena = arena_create(vm->reserved);
    if (!vm->arena)
        return nullptr;
    arena_set_charge(vm->arena, &vm->charged);
    return lua_newstate(arena_alloc, vm->arena);
}

void destroy(hk_vm* vm)
{
    if (vm->L && vm->useMalloc)
        lua_close(vm->L);
    else if (vm->L)
        image_drop_vm(vm->L);
    if (vm->image)
        image_free(vm->image);
    if (vm->arena)
        idle_arenas().put(vm->arena, vm->reserved);
    json_scratch_free(vm->json);
    delete vm;
}

// Runs f on the current thread with the stack put back, and turns its failure into a result.
template<typename F>
hk_result operate(hk_vm* vm, const char* what, F f)
{
    if (vm->dead)
        return killed_result(vm);
    lua_State* L = hk::current(vm);
    int top = lua_gettop(L);
    hk_result r = {};
    const char* why = nullptr;
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 8, what);
            f(L, r, why);
        }
    );
    if (status == kKilled)
        return killed_result(vm);
    if (status == LUA_ERRMEM)
        r = text_result(vm, HK_ERR_MEMORY, "%s: not enough memory", what);
    else if (status != 0)
        r = text_result(vm, HK_ERR_INVALID, "%s: %s", what, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "failed");
    else if (why)
        r = text_result(vm, HK_ERR_INVALID, "%s: %s", what, why);
    lua_settop(L, top);
    return r;
}

void push_name(lua_State* L, const char* name, size_t size)
{
    if (size > (size_t(1) << 30))
        luaL_error(L, "the name is longer than 1 GiB");
    lua_pushlstring(L, name ? name : "", size);
}

// Stores the value on top under the key below it, in the table at idx. Loaded code may have read the
// globals already and kept what it found; where such a value changes, it must read again.
void store(lua_State* L, int idx)
{
    lua_pushvalue(L, -2);
    lua_rawget(L, idx);
    if (!lua_isnil(L, -1) && !lua_rawequal(L, -1, -2))
        lua_setsafeenv(L, LUA_GLOBALSINDEX, false);
    lua_pop(L, 1);
    lua_rawset(L, idx);
}

// The value on top as the result.
void give_top(hk_vm* vm, lua_State* L, hk_result& r, Keep keep)
{
    Buf& out = frame_of(vm).results;
    out.clear();
    std::string text;
    if (!encode_values(vm, L, lua_gettop(L), 1, keep, out, text))
    {
        r = text_result(vm, HK_ERR_CONVERT, "%s", text.c_str());
        return;
    }
    r.count = 1;
    r.data = out.data();
    r.size = out.size();
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
    vm->reserved = options.memory_limit ? options.memory_limit : HK_DEFAULT_MEMORY;
    vm->memoryLimit = vm->reserved;
    for (Frame& frame : vm->frames)
    {
        frame.args.charge_to(vm);
        frame.out.charge_to(vm);
        frame.results.charge_to(vm);
    }
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
    lua_State* L = vm->json ? new_state(vm) : nullptr;
    int status = LUA_ERRMEM;
    if (L)
    {
        vm->L = L;
        L->global->cb.userdata = vm;
        L->global->cb.preresume = before_resume;
        L->global->cb.postresume = after_resume;
        status = protect(
            vm,
            L,
            [&](lua_State* L)
            {
                open_libraries(vm, L);
                seal_libraries(vm, L);
            }
        );
    }
    if (status != 0)
    {
        destroy(vm);
        return r;
    }
    image_reseed(L);
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
    out->memory_used = charged + (vm->arena ? arena_used(vm->arena) : size_t(vm->mallocUsed.load(std::memory_order_relaxed)));
    out->memory_peak = vm->arena ? arena_peak(vm->arena) : out->memory_used;
    out->host_calls = vm->hostCalls;
    out->output = vm->outputTotal;
    out->image_bytes = vm->image ? image_bytes(vm->image) : 0;
    out->refs = vm->liveRefs;
}

extern "C" hk_result hk_get_global(hk_vm* vm, const char* name, size_t size)
{
    return operate(
        vm,
        "reading a global",
        [&](lua_State* L, hk_result& r, const char*&)
        {
            // Raw, for a script may have given its globals a metatable whose code never ends.
            push_name(L, name, size);
            lua_pushvalue(L, LUA_GLOBALSINDEX);
            TValue globals;
            sethvalue(L, &globals, vm->L->gt);
            luaA_pushvalue(L, &globals);
            lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kSealed]);
            int name = lua_gettop(L) - 3;
            for (int table = name + 1; table <= name + 3; table++)
            {
                lua_pushvalue(L, name);
                lua_rawget(L, table);
                if (!lua_isnil(L, -1) || table == name + 3)
                    return give_top(vm, L, r, kKeepObjects);
                lua_pop(L, 1);
            }
        }
    );
}

extern "C" hk_result hk_set_global(hk_vm* vm, const char* name, size_t size, const uint8_t* value, size_t value_size)
{
    return operate(
        vm,
        "setting a global",
        [&](lua_State* L, hk_result&, const char*& why)
        {
            FlatIn in(value, value_size, 1);
            lua_pushvalue(L, LUA_GLOBALSINDEX);
            push_name(L, name, size);
            if (decode_value(vm, L, in, why))
                store(L, lua_gettop(L) - 2);
        }
    );
}

static bool push_table(hk_vm* vm, lua_State* L, hk_ref table, const char*& why)
{
    if (table == 0)
        lua_pushvalue(L, LUA_GLOBALSINDEX);
    else if (!push_ref(vm, L, table))
        why = "the table belongs to another VM, or to one that was reset or released it";
    else if (!lua_istable(L, -1))
        why = "not a table";
    return !why;
}

extern "C" hk_result hk_get_field(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size)
{
    return operate(
        vm,
        "reading a field",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(key, key_size, 1);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            lua_rawget(L, -2);
            give_top(vm, L, r, kKeepObjects);
        }
    );
}

extern "C" hk_result hk_get_table(hk_vm* vm, hk_ref table, const uint8_t* key, size_t key_size)
{
    return operate(
        vm,
        "reading a table",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(key, key_size, 1);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            lua_rawget(L, -2);
            if (!lua_istable(L, -1))
                why = "the field is no table";
            else
                r.thread = make_ref(vm, L, -1);
        }
    );
}

extern "C" hk_result hk_set_field(hk_vm* vm, hk_ref table, const uint8_t* pair, size_t pair_size)
{
    return operate(
        vm,
        "setting a field",
        [&](lua_State* L, hk_result&, const char*& why)
        {
            FlatIn in(pair, pair_size, 2);
            if (!push_table(vm, L, table, why) || !decode_value(vm, L, in, why))
                return;
            if (lua_isnil(L, -1))
                why = "the key is nil";
            else if (decode_value(vm, L, in, why))
                store(L, lua_gettop(L) - 2);
        }
    );
}

extern "C" hk_result hk_get_value(hk_vm* vm, hk_ref ref)
{
    return operate(
        vm,
        "reading a value",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            if (!push_ref(vm, L, ref))
                why = "the value belongs to another VM, or to one that was reset or released it";
            else
                give_top(vm, L, r, kCopy);
        }
    );
}

extern "C" hk_result hk_keep(hk_vm* vm, const uint8_t* value, size_t size)
{
    return operate(
        vm,
        "keeping a value",
        [&](lua_State* L, hk_result& r, const char*& why)
        {
            FlatIn in(value, size, 1);
            if (!decode_value(vm, L, in, why))
                return;
            if (lua_isnil(L, -1))
                why = "nil cannot be kept";
            else
                r.thread = make_ref(vm, L, -1);
        }
    );
}

extern "C" void hk_collect(hk_vm* vm)
{
    operate(vm, "collecting", [&](lua_State* L, hk_result&, const char*&) { lua_gc(L, LUA_GCCOLLECT, 0); });
}

// A table's address as tostring shows it, anywhere in a string.
static bool shows_address(const char* s, size_t size)
{
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
