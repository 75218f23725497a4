// Running scripts: threads, waits, time slices and the kill.
#include "vm.h"

#include "lstate.h"

#include <utility>

namespace hk
{

// Gives a run a chain of its own. base is what `blocked` starts from: 1 where nothing may wait. While
// the script runs, the thread that called it may not use the VM.
struct RunScope
{
    hk_vm* vm;
    ResumeChain& chain;
    int first;
    int count;
    int blocked;
    uint64_t caller;
    RunScope(hk_vm* vm, int base)
        : vm(vm)
        , chain(vm->running)
        , first(chain.first)
        , count(chain.count)
        , blocked(chain.blocked)
        , caller(vm->caller.load(std::memory_order_relaxed))
    {
        vm->caller.store(0, std::memory_order_relaxed);
        chain.first = count;
        chain.blocked = base;
        if (vm->profile && count == 0)
            profile_resume(vm);
    }
    // Also after a kill, which leaves links behind.
    ~RunScope()
    {
        if (vm->profile && count == 0)
            profile_pause(vm);
        vm->caller.store(caller, std::memory_order_relaxed);
        chain.first = first;
        chain.count = count;
        chain.blocked = blocked;
    }
};

// The thread that co waits for while both are broken off: co called coroutine.resume or a function
// made by coroutine.wrap, and what it resumed was broken off.
lua_State* next_broken(const hk_vm* vm, lua_State* co)
{
    if (co->status != LUA_BREAK || co->ci == co->base_ci)
        return nullptr;
    Closure* f = clvalue(co->ci->func);
    const TValue* held = nullptr;
    if (f->isC && f->c.f == vm->resumeCall)
        held = co->ci->base;
    else if (f->isC && f->c.f == vm->wrapCall)
        held = &f->c.upvals[0];
    if (!held || !ttisthread(held))
        return nullptr;
    lua_State* next = thvalue(held);
    return next->status == LUA_BREAK ? next : nullptr;
}

namespace
{

hk_result suspended_result(hk_vm* vm, hk_status status)
{
    if (!deliver_output(vm))
        return killed_result(vm);
    hk_result r = {};
    r.status = status;
    if (status == HK_WAIT)
        r.token = vm->waitToken;
    return r;
}

// Resumes the thread that others wait for, innermost, and then each that waited for that one. The
// coroutine functions of Luau go on by themselves once their coroutine is no longer broken off.
int drive_chain(const hk_vm* vm, lua_State* top, lua_State* from)
{
    std::vector<lua_State*> chain;
    for (lua_State* co = top; co; co = next_broken(vm, co))
        chain.push_back(co);
    int status = LUA_OK;
    for (size_t i = chain.size(); i > 0 && status != LUA_BREAK; i--)
        status = lua_resume(chain[i - 1], from, 0);
    return status;
}

// Resumes top, or what it waits for.
int drive(hk_vm* vm, lua_State* top, int nargs)
{
    // Luau's limit of nested C calls counts on through host calls: they share one C stack.
    lua_State* from = vm->running.innermost();
    if (std::exchange(vm->raiseOnResume, false))
        return lua_resumeerror(top, from);
    return next_broken(vm, top) ? drive_chain(vm, top, from) : lua_resume(top, from, nargs);
}

// What became of top, in words of the interface. top stays anchored by the caller.
hk_result outcome(hk_vm* vm, lua_State* top, int status, bool keep)
{
    switch (status)
    {
    case LUA_OK:
        return values_result(vm, top, lua_gettop(top), HK_OK, keep);
    case LUA_YIELD:
        return values_result(vm, top, lua_gettop(top), HK_YIELD);
    case LUA_BREAK:
        return suspended_result(vm, std::exchange(vm->waiting, false) ? HK_WAIT : HK_SLICE);
    default:
        return error_result(vm, top, status);
    }
}

hk_result run_thread(hk_vm* vm, lua_State* top, int nargs, bool keep, bool inPlace = false)
{
    vm->waiting = false;
    int status = LUA_OK;
    size_t depth = vm->depth;
    try
    {
        RunScope scope(vm, inPlace ? 1 : 0);
        vm->depth++;
        status = drive(vm, top, nargs);
    }
    catch (const Kill&)
    {
        vm->dead = true;
    }
    catch (const std::bad_alloc&)
    {
        vm->dead = true; // in the middle of anything
    }
    vm->depth = depth;
    if (vm->dead)
        return killed_result(vm);
    return outcome(vm, top, status, keep);
}

hk_result setup_failed(hk_vm* vm, lua_State* L, int status, const char* why)
{
    if (status == kKilled)
        return killed_result(vm);
    if (status == LUA_ERRMEM)
        return text_result(vm, HK_ERR_MEMORY, "not enough memory for the arguments");
    if (status != 0)
        return text_result(
            vm, HK_ERR_INVALID, "%s", lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "set-up failed"
        );
    return text_result(vm, HK_ERR_INVALID, "%s", why ? why : "set-up failed");
}

} // namespace

void before_resume(lua_State* L)
{
    vm_of(L)->running.push(L);
}

void after_resume(lua_State* L)
{
    vm_of(L)->running.pop();
}

void mark_ended(hk_vm* vm, uint64_t run, uint32_t reason)
{
    uint64_t word = vm->killWord.load(std::memory_order_relaxed);
    // Late news of an earlier run must not hide the end of this one.
    while ((word >> 8) < run && !vm->killWord.compare_exchange_weak(word, (run << 8) | (reason & 0xff)))
        ;
}

void end_run(hk_vm* vm, uint32_t reason)
{
    mark_ended(vm, vm->run, reason);
    leave_run(vm);
}

void leave_run(hk_vm* vm)
{
    note_place(vm);
    throw Kill();
}

void install_interrupt(hk_vm* vm)
{
    __atomic_store_n(&vm->L->global->cb.interrupt, &on_interrupt, __ATOMIC_SEQ_CST);
}

void on_interrupt(lua_State* L, int gc)
{
    hk_vm* vm = vm_of(L);
    if (gc >= 0)
    {
        // Inside the collector, where the heap may not be looked at, but stacks may.
        if (vm->attention.load(std::memory_order_relaxed) & HK_ATTEND_SAMPLE)
            take_sample(vm, gc > 0);
        return;
    }
    check_kill(vm);
    __atomic_store_n(&L->global->cb.interrupt, nullptr, __ATOMIC_SEQ_CST);
    uint32_t what = vm->attention.exchange(0, std::memory_order_seq_cst);
    check_kill(vm);
    if (what & HK_ATTEND_SAMPLE)
        take_sample(vm, false);
    if (what & (kAttendCollect | kAttendUnwound))
        relieve_at_safe_point(vm, L, what);
    if (what & HK_ATTEND_SLICE)
    {
        if (vm->running.blocked == 0 && vm->running.running() && isLua(L->ci) && lua_isyieldable(L))
            lua_break(L);
        else
        {
            vm->attention.fetch_or(HK_ATTEND_SLICE, std::memory_order_seq_cst);
            install_interrupt(vm);
        }
    }
}

} // namespace hk

using namespace hk;

extern "C" void hk_run_begin(hk_vm* vm, uint64_t run, const hk_limits* limits)
{
    relieve(vm);
    vm->run = run;
    vm->limits = limits ? *limits : hk_limits{};
    vm->hostCalls = 0;
    vm->checks = 0;
    vm->outputTotal = 0;
    vm->output.clear();
    vm->attention.store(0, std::memory_order_seq_cst);
    rest_buffers(vm);
    size_t most = vm->limits.memory;
    set_memory_limit(vm, most && most < vm->reserved ? most : vm->reserved);
    arm_pressure(vm);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (kill_reason(vm))
        install_interrupt(vm);
}

extern "C" void hk_kill(hk_vm* vm, uint64_t run, uint32_t reason)
{
    mark_ended(vm, run, reason);
    install_interrupt(vm);
}

extern "C" void hk_attend(hk_vm* vm, uint32_t what)
{
    vm->attention.fetch_or(what, std::memory_order_seq_cst);
    install_interrupt(vm);
}

extern "C" hk_result hk_call_function(hk_vm* vm, hk_ref fn, const uint8_t* args, size_t size, uint32_t nargs)
{
    if (vm->dead)
        return killed_result(vm);
    if (!can_nest(vm))
        return text_result(vm, HK_ERR_INVALID, "calls between host and script nested deeper than %d", int(kMaxNesting));
    if (nargs > size)
        return text_result(vm, HK_ERR_INVALID, "flat values: fewer than said");
    relieve(vm);
    lua_State* L = current(vm);
    int top = lua_gettop(L);
    const char* why = nullptr;
    int status = LUA_OK;
    bool ready = false;
    auto work = [&](lua_State* L)
    {
        luaL_checkstack(L, 8, "calling a function");
        lua_rawgeti(L, LUA_REGISTRYINDEX, vm->fixed[kTraceHandler]);
        FlatIn in(args, size, nargs);
        if (!push_ref(vm, L, fn))
            why = "the function belongs to another VM, or to one that was reset or released it";
        else
            ready = decode_values(vm, L, in, why);
        if (!ready)
            return;
        RunScope scope(vm, 1);
        vm->running.push(L);
        vm->depth++;
        ptrdiff_t outer = std::exchange(vm->traceFrom, L->ci - L->base_ci);
        status = lua_pcall(L, int(nargs), LUA_MULTRET, top + 1);
        vm->traceFrom = outer;
        vm->depth--;
    };
    size_t depth = vm->depth;
    int failed = protect(vm, L, work);
    vm->depth = depth;
    if (failed == kKilled)
        return killed_result(vm);
    hk_result r;
    if (failed || !ready)
        r = setup_failed(vm, L, failed, why);
    else if (status != LUA_OK)
        r = error_result(vm, L, status);
    else
        r = values_result(vm, L, lua_gettop(L) - top - 1, HK_OK);
    lua_settop(L, top);
    return r;
}

// Gives co new globals and leaves a copy of the chunk in them on its stack.
static void push_chunk_copy(lua_State* co, int chunk)
{
    lua_pushvalue(co, chunk);
    lua_clonefunction(co, -1);
    lua_remove(co, -2);
    push_own_globals(co);
    lua_pushvalue(co, -1);
    lua_setfenv(co, -3);
    lua_replace(co, LUA_GLOBALSINDEX);
}

// Runs the chunk on top of co to its end, in place. r is set when it did not get there.
static bool run_chunk(hk_vm* vm, lua_State* co, hk_result& r)
{
    r = run_thread(vm, co, 0, false, true);
    if (r.status == HK_YIELD)
        r = text_result(vm, HK_ERR_INVALID, "the top level of the script yields, and nothing can resume it");
    return r.status == HK_OK;
}

// HK_START_ENTRY: co holds chunk, name and arguments; in the end function and arguments. In place of a name
// there may be a function: it stays, with the chunk's globals before the other arguments. nargs becomes the
// number of arguments.
static bool prepare_entry(hk_vm* vm, lua_State* co, uint32_t& nargs, hk_result& r)
{
    bool around = lua_isfunction(co, 2);
    lua_State* runner = nullptr;
    int status = protect(
        vm,
        co,
        [&](lua_State* co)
        {
            runner = lua_newthread(co);
            lua_pushvalue(co, 1);
            lua_xmove(co, runner, 1);
            push_chunk_copy(runner, 1);
            lua_remove(runner, 1);
        }
    );
    if (status != 0)
    {
        r = setup_failed(vm, co, status, nullptr);
        return false;
    }
    if (!run_chunk(vm, runner, r))
        return false;
    bool found = false;
    status = protect(
        vm,
        co,
        [&](lua_State* co)
        {
            lua_pushvalue(runner, LUA_GLOBALSINDEX);
            lua_xmove(runner, co, 1);
            lua_pushvalue(co, -1);
            lua_replace(co, LUA_GLOBALSINDEX);
            if (around)
            {
                lua_pushvalue(co, 2);
                lua_replace(co, 1);
                lua_replace(co, 2);
                lua_settop(co, int(nargs) + 1);
                found = true;
                return;
            }
            lua_pushvalue(co, 2);
            lua_rawget(co, -2);
            found = lua_isfunction(co, -1);
            lua_replace(co, 2);
            lua_settop(co, int(nargs) + 1);
            lua_remove(co, 1);
        }
    );
    if (!around)
        nargs--;
    if (status != 0 || !found)
        r = setup_failed(vm, co, status, "the script defines no function of that name");
    return status == 0 && found;
}

extern "C" hk_result hk_start(
    hk_vm* vm,
    hk_ref fn,
    const uint8_t* args,
    size_t size,
    uint32_t nargs,
    uint32_t flags,
    uint64_t run,
    const hk_limits* limits
)
{
    if (flags & HK_START_RESET)
    {
        hk_result r = hk_vm_reset(vm);
        if (r.status != HK_OK)
            return r;
        hk_run_begin(vm, run, limits);
    }
    if (vm->dead)
        return killed_result(vm);
    if (!can_nest(vm))
        return text_result(vm, HK_ERR_INVALID, "calls between host and script nested deeper than %d", int(kMaxNesting));
    if (nargs > size)
        return text_result(vm, HK_ERR_INVALID, "flat values: fewer than said");
    relieve(vm);

    lua_State* L = current(vm);
    int top = lua_gettop(L);
    lua_State* co = nullptr;
    int status = protect(
        vm,
        L,
        [&](lua_State* L)
        {
            luaL_checkstack(L, 4, "starting a thread");
            co = lua_newthread(L);
        }
    );
    if (status != 0)
        return setup_failed(vm, L, status, nullptr);
    const char* why = nullptr;
    bool ready = false;
    status = protect(
        vm,
        co,
        [&](lua_State* co)
        {
            luaL_checkstack(co, 4, "starting a thread");
            FlatIn in(args, size, nargs);
            if (!push_ref(vm, co, fn))
                why = "the function belongs to another VM, or to one that was reset or released it";
            else if (!lua_isfunction(co, -1))
                why = "not a function";
            else
                ready = decode_values(vm, co, in, why);
        }
    );
    hk_result r;
    if (status != 0 || !ready)
        r = setup_failed(vm, co, status, why);
    else if ((flags & HK_START_ENTRY) && nargs == 0)
        r = text_result(vm, HK_ERR_INVALID, "no name of a function to start");
    else if ((flags & HK_START_ENTRY) && !prepare_entry(vm, co, nargs, r))
        ; // r says why
    else if (flags & HK_START_SUSPENDED)
        r = suspended_result(vm, HK_SLICE);
    else
        r = run_thread(vm, co, int(nargs), (flags & HK_START_KEEP) != 0, (flags & HK_START_IN_PLACE) != 0);
    if (r.status == HK_YIELD || r.status == HK_WAIT || r.status == HK_SLICE)
    {
        int kept = protect(vm, L, [&](lua_State* L) { r.thread = make_ref(vm, L, top + 1); });
        if (kept != 0)
            r = setup_failed(vm, L, kept, nullptr);
    }
    if (!vm->dead)
        lua_settop(L, top);
    return r;
}

static bool is_suspended(const lua_State* co)
{
    return !co->isactive && (co->status == LUA_YIELD || co->status == LUA_BREAK);
}

// Ends co, and what it waits for, where they stand.
static void end_chain(const hk_vm* vm, lua_State* co)
{
    while (co && is_suspended(co))
    {
        lua_State* next = next_broken(vm, co);
        lua_resetthread(co);
        co = next;
    }
}

extern "C" void hk_drop(hk_vm* vm, hk_ref thread)
{
    if (vm->dead)
        return;
    lua_State* L = current(vm);
    int top = lua_gettop(L);
    if (push_ref(vm, L, thread))
    {
        lua_State* co = lua_tothread(L, -1);
        // Without memory it ends half: what is left is garbage all the same.
        if (co && is_suspended(co))
            (void)protect(vm, L, [&](lua_State*) { end_chain(vm, co); });
        lua_settop(L, top);
    }
    drop_ref(vm, thread);
}

// Yielded, broken off, or not begun yet.
static bool can_resume(lua_State* co)
{
    if (co->status == LUA_YIELD || co->status == LUA_BREAK)
        return true;
    return co->status == LUA_OK && co->ci == co->base_ci && lua_gettop(co) > 0;
}

extern "C" hk_result
hk_resume(hk_vm* vm, hk_ref thread, const uint8_t* args, size_t size, uint32_t nargs, uint32_t flags)
{
    if (vm->dead)
        return killed_result(vm);
    if (!can_nest(vm))
        return text_result(vm, HK_ERR_INVALID, "calls between host and script nested deeper than %d", int(kMaxNesting));
    lua_State* L = current(vm);
    if (!push_ref(vm, L, thread))
        return text_result(
            vm, HK_ERR_INVALID, "the thread belongs to another VM, or to one that was reset or released it"
        );
    lua_State* co = lua_tothread(L, -1);
    int top = lua_gettop(L) - 1;
    if (!co || co->isactive || !can_resume(co))
    {
        lua_settop(L, top);
        return text_result(vm, HK_ERR_INVALID, "the thread cannot be resumed: it is running or has finished");
    }
    hk_result r;
    bool keep = (flags & HK_RESUME_KEEP) != 0, inPlace = (flags & HK_RESUME_IN_PLACE) != 0;
    if (co->status == LUA_BREAK)
    {
        vm->payload = FlatIn(args, size, nargs);
        vm->payloadError = (flags & HK_RESUME_ERROR) != 0;
        r = run_thread(vm, co, 0, keep, inPlace);
        vm->payload = FlatIn();
        vm->payloadError = false;
    }
    else
    {
        const char* why = nullptr;
        bool ready = false;
        FlatIn in(args, size, nargs);
        // A thread that has not begun has its function and arguments on its stack already.
        int have = co->status == LUA_OK ? lua_gettop(co) - 1 : 0;
        int before = lua_gettop(co);
        int status = protect(vm, co, [&](lua_State* co) { ready = decode_values(vm, co, in, why); });
        if (status != 0 || !ready)
        {
            r = setup_failed(vm, co, status, why);
            if (!vm->dead)
                lua_settop(co, before); // so that it can be tried again
        }
        else
        {
            vm->raiseOnResume = (flags & HK_RESUME_ERROR) != 0 && co->status == LUA_YIELD;
            r = run_thread(vm, co, have + int(nargs), keep, inPlace);
            vm->raiseOnResume = false;
        }
    }
    if (r.status == HK_YIELD || r.status == HK_WAIT || r.status == HK_SLICE)
        r.thread = thread;
    if (!vm->dead)
        lua_settop(L, top);
    return r;
}
