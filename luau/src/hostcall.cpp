// Calls from a script into the host: one closure for both paths.
#include "vm.h"

#include "lstate.h"

#include <mutex>
#include <unordered_set>

namespace hk
{

namespace
{

// Names that closures point to, kept for the life of the process: Luau stores the bare pointer.
const char* intern_name(const char* name, size_t size)
{
    static std::mutex lock;
    static std::unordered_set<std::string> names;
    std::lock_guard<std::mutex> hold(lock);
    return names.emplace(name, size).first->c_str();
}

void end_run(hk_vm* vm, uint32_t reason)
{
    vm->killWord.store((vm->run << 8) | reason, std::memory_order_relaxed);
    throw Kill();
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

struct DepthScope
{
    hk_vm* vm;
    explicit DepthScope(hk_vm* vm)
        : vm(vm)
    {
        vm->depth++;
    }
    ~DepthScope()
    {
        vm->depth--;
    }
};

} // namespace

int host_call(lua_State* L)
{
    hk_vm* vm = vm_of(L);
    check_kill(vm);
    if (vm->limits.host_calls && vm->hostCalls >= vm->limits.host_calls)
        end_run(vm, HK_KILL_HOST_CALLS);
    vm->hostCalls++;
    vm->impure = true;
    if (vm->depth >= kMaxNesting)
        raise(L, "limit", "host calls nested deeper than %d", int(kMaxNesting));
    if (!vm->output.empty())
        flush_output(vm);

    Frame& frame = frame_of(vm);
    frame.args.clear();
    frame.out.clear();
    int nargs = lua_gettop(L);
    if (nargs)
    {
        std::string why;
        if (!encode_values(vm, L, 1, nargs, kKeepObjects, frame.args, why))
            raise(L, "invalid_argument", "%s: %s", lua_tostring(L, lua_upvalueindex(2)), why.c_str());
    }
    frame.out.reserve(256);

    hk_call call = {};
    call.host = vm->host;
    call.id = uint32_t(lua_tonumber(L, lua_upvalueindex(1)));
    call.nargs = uint32_t(nargs);
    call.args = frame.args.data();
    call.args_size = frame.args.size();
    call.out = frame.out.data();
    call.out_capacity = frame.out.capacity();
    call.can_wait = is_wait_safe(vm, L) ? 1 : 0;
    call.vm = vm;
    {
        DepthScope scope(vm);
        vm->hooks->call(&call);
    }
    check_kill(vm);
    if (call.status == HK_CALL_WAIT)
    {
        if (!call.can_wait)
            raise(L, "internal", "%s waited where Luau cannot yield", lua_tostring(L, lua_upvalueindex(2)));
        vm->waiting = true;
        vm->waitToken = call.token;
        return lua_break(L);
    }
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
    lua_pushnumber(L, id);
    lua_pushlstring(L, name, size);
    lua_pushcclosurek(L, host_call, intern_name(name, size), 2, (flags & HK_FN_MAY_WAIT) ? host_continue : nullptr);
}

bool is_wait_safe(hk_vm* vm, lua_State* L)
{
    return vm->running.blocked == 0 && lua_isyieldable(L) && clvalue(L->ci->func)->c.cont != nullptr;
}

void flush_output(hk_vm* vm)
{
    if (vm->output.empty())
        return;
    if (vm->hooks && vm->hooks->output)
        vm->hooks->output(vm->host, reinterpret_cast<const uint8_t*>(vm->output.data()), vm->output.size());
    vm->output.clear();
}

} // namespace hk

extern "C" int hk_call_reserve(hk_call* call, size_t size)
{
    hk_vm* vm = call->vm;
    hk::Frame& frame = *vm->frames[vm->depth - 1];
    if (!frame.out.reserve(size))
        return 0;
    call->out = frame.out.data();
    call->out_capacity = frame.out.capacity();
    return 1;
}
