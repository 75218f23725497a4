// Calls from a script into the host: one closure for both paths.
#include "vm.h"

#include "lstate.h"

#include <pthread.h>

namespace hk
{

namespace
{

// The first upvalue of a host function: its number, given back when the function is collected.
struct Callee
{
    uint32_t id;
    bool pure;
    bool quiet;
    bool counted;
};

Callee* callee_of(const Closure* f)
{
    return reinterpret_cast<Callee*>(uvalue(&f->c.upvals[0])->data);
}

void callee_collected(lua_State* L, void* p)
{
    try
    {
        vm_of(L)->unused.push_back(static_cast<Callee*>(p)->id);
    }
    catch (const std::bad_alloc&)
    {
        // The host keeps one function longer than needed.
    }
}

// Pushes what the host gave and returns how many values, or raises.
int give(hk_vm* vm, lua_State* L, FlatIn in, bool isError)
{
    const char* why = nullptr;
    if (isError)
        in.count = 1;
    if (!decode_values(vm, L, in, why))
        raise(L, "internal", "host function gave an unreadable result: %s", why);
    if (isError)
        lua_error(L);
    return int(in.count);
}

// While the host's function runs: one level deeper, and this thread may use the VM.
struct HostScope
{
    hk_vm* vm;
    uint64_t outer;
    explicit HostScope(hk_vm* vm) : vm(vm), outer(vm->caller.load(std::memory_order_relaxed))
    {
        vm->depth++;
        vm->caller.store(uint64_t(pthread_self()), std::memory_order_relaxed);
    }
    ~HostScope()
    {
        vm->caller.store(outer, std::memory_order_relaxed);
        vm->depth--;
    }
};

// Everything that must be so before the host hears of a call.
void check_call(hk_vm* vm, lua_State* L, const Callee& callee, bool canWait)
{
    check_kill(vm);
    if (callee.counted)
    {
        if (vm->limits.host_calls && vm->hostCalls >= vm->limits.host_calls)
            end_run(vm, HK_KILL_HOST_CALLS);
        vm->hostCalls++;
    }
    vm->impure |= !callee.pure;
    if (!can_nest(vm))
        raise(L, "limit", "host calls nested deeper than %d", int(kMaxNesting));
    if (!vm->output.empty() && !(callee.quiet && canWait)) // where it cannot wait it blocks
        flush_output(vm);
}

const char* function_name(const Closure* f)
{
    return svalue(&f->c.upvals[1]);
}

void encode_args(hk_vm* vm, lua_State* L, const Closure* f, Buf& out)
{
    out.clear();
    const TValue* first = L->base;
    int count = int(L->top - first);
    if (count == 0)
        return;
    // Most calls are of a few numbers and short texts; they need no encoder.
    for (int i = 0; i < count && i < 4; i++)
    {
        if (ttisnumber(first + i))
        {
            if (!out.put_tagged(HK_T_NUMBER, &first[i].value.n, 8))
                break;
        }
        else if (!ttisstring(first + i) || tsvalue(first + i)->len > 4096 ||
                 !out.put_text(HK_T_STRING, svalue(first + i), tsvalue(first + i)->len))
            break;
        if (i + 1 == count)
            return;
    }
    out.clear();
    std::string why;
    if (!encode_values(vm, L, 1, count, kKeepObjects, out, why))
    {
        out.clear(); // with the references that were made before the fault
        raise(L, "invalid_argument", "%s: %s", function_name(f), why.c_str());
    }
}

// Where Luau can yield, in the whole chain of resumes, and the function knows how to go on.
bool is_wait_safe(const hk_vm* vm, lua_State* L, const Closure* f)
{
    return f->c.cont != nullptr && vm->running.blocked == 0 && lua_isyieldable(L);
}

} // namespace

int host_call(lua_State* L)
{
    hk_vm* vm = vm_of(L);
    const Closure* f = clvalue(L->ci->func);
    bool canWait = is_wait_safe(vm, L, f);
    check_call(vm, L, *callee_of(f), canWait);
    Frame& frame = frame_of(vm);
    int nargs = int(L->top - L->base);
    encode_args(vm, L, f, frame.args);
    frame.out.clear();
    frame.out.reserve(256); // without memory the host has to ask again

    hk_call call;
    call.host = vm->host;
    call.id = callee_of(f)->id;
    call.nargs = uint32_t(nargs);
    call.args = frame.args.data();
    call.args_size = frame.args.size();
    call.out = frame.out.data();
    call.out_capacity = frame.out.capacity();
    call.out_size = 0;
    call.nresults = 0;
    call.can_wait = canWait ? 1 : 0;
    call.reserved = 0;
    call.token = 0;
    call.vm = vm;
    call.status = HK_CALL_MEMORY;
    {
        HostScope scope(vm);
        vm->hooks->call(&call);
    }
    frame.args.clear();
    poll(vm);
    if (call.status == HK_CALL_NUMBER)
    {
        setnvalue(L->top, call.number); // a C function has room for a few values
        L->top++;
        return 1;
    }
    if (call.status == HK_CALL_WAIT)
    {
        if (!call.can_wait)
            raise(L, "internal", "%s waited where Luau cannot yield", function_name(clvalue(L->ci->func)));
        vm->waiting = true;
        vm->waitToken = call.token;
        return lua_break(L);
    }
    if (call.status != HK_CALL_RETURN && call.status != HK_CALL_ERROR)
        raise(L, "memory", "%s: not enough memory for the result", function_name(clvalue(L->ci->func)));
    return give(vm, L, FlatIn(call.out, call.out_size, call.nresults), call.status == HK_CALL_ERROR);
}

int host_continue(lua_State* L, int)
{
    hk_vm* vm = vm_of(L);
    check_kill(vm);
    FlatIn in = vm->payload;
    bool isError = vm->payloadError;
    vm->payload = FlatIn();
    vm->payloadError = false;
    return give(vm, L, in, isError);
}

void push_host_function(lua_State* L, uint32_t id, uint8_t flags, const char* name, size_t size)
{
    Callee* callee = static_cast<Callee*>(lua_newuserdatadtor(L, sizeof(Callee), callee_collected));
    callee->id = id;
    callee->pure = (flags & HK_FN_PURE) != 0;
    callee->quiet = (flags & HK_FN_QUIET) != 0;
    callee->counted = true;
    lua_pushlstring(L, name, size);
    const char* kept = vm_of(L)->names.emplace(name, size).first->c_str();
    lua_pushcclosurek(L, host_call, kept, 2, (flags & HK_FN_MAY_WAIT) ? host_continue : nullptr);
}

void leave_uncounted(const Closure* f)
{
    if (f->isC && f->c.f == host_call)
        callee_of(f)->counted = false;
}

void flush_output(hk_vm* vm)
{
    if (vm->output.empty())
        return;
    give_output(vm, vm->output.data(), vm->output.size());
    vm->output.clear();
}

bool deliver_output(hk_vm* vm)
{
    flush_output(vm);
    if (!kill_reason(vm))
        return true;
    vm->dead = true;
    return false;
}

void give_output(hk_vm* vm, const char* text, size_t size)
{
    if (!vm->hooks || !vm->hooks->output)
        return;
    // The hook is no host call: the VM is in the middle of something.
    uint64_t outer = vm->caller.load(std::memory_order_relaxed);
    vm->caller.store(0, std::memory_order_relaxed);
    vm->hooks->output(vm->host, reinterpret_cast<const uint8_t*>(text), size);
    vm->caller.store(outer, std::memory_order_relaxed);
}

} // namespace hk

extern "C" int hk_in_host_call(const hk_vm* vm)
{
    return vm->caller.load(std::memory_order_relaxed) == uint64_t(pthread_self()) ? 1 : 0;
}

extern "C" int hk_call_reserve(hk_call* call, size_t size)
{
    hk_vm* vm = call->vm;
    hk::Frame& frame = vm->frames[vm->depth - 1];
    if (!frame.out.reserve(size))
        return 0;
    call->out = frame.out.data();
    call->out_capacity = frame.out.capacity();
    return 1;
}

extern "C" size_t hk_take_unused(hk_vm* vm, uint32_t* ids, size_t most)
{
    size_t n = 0;
    for (; n < most && !vm->unused.empty(); n++)
    {
        ids[n] = vm->unused.back();
        vm->unused.pop_back();
    }
    return n;
}
