// Collecting garbage when memory runs short, so that garbage does not count as use: at the next safe
// point, because Luau cannot collect while it allocates.
#include "vm.h"

#include "Luau/Bytecode.h"

#include "lstate.h"

namespace hk
{

namespace
{

// The first register that a call which a Lua function is about to make at this safe point will
// overwrite unread; -1 when there is none. Safe points stand at calls, returns and the ends of loops.
int first_dead(lua_State* L, const CallInfo* ci)
{
    const Instruction* pc = ci->savedpc - 1;
    Instruction call = *pc;
    switch (LUAU_INSN_OP(call))
    {
    case LOP_CALL:
    case LOP_CALLFB:
        break;
    case LOP_RETURN:
    case LOP_FORNLOOP:
    case LOP_FORGLOOP:
    case LOP_JUMPBACK:
    case LOP_JUMPX:
        return -1;
    default: // a fast pcall, which looks one instruction further on; pcall itself is loaded later
        if (LUAU_INSN_OP(pc[-1]) != LOP_FASTPCALL)
            return -1;
        call = pc[LUAU_INSN_C(pc[-1])];
        setnilvalue(L->base + LUAU_INSN_A(call));
    }
    return LUAU_INSN_B(call) ? int(LUAU_INSN_A(call) + LUAU_INSN_B(call)) : -1; // else up to the top
}

// A call overwrites every register behind its arguments, so what they still hold is garbage: often
// all that a function held which an error ended, as after pcall of what ran out of memory.
void clear_dead_registers(lua_State* L)
{
    if (!isLua(L->ci) || (L->ci->flags & LUA_CALLINFO_NATIVE))
        return;
    int first = first_dead(L, L->ci);
    for (StkId dead = L->base + first; first >= 0 && dead < L->top; dead++)
        setnilvalue(dead);
}

void collect(hk_vm* vm, lua_State* L)
{
    vm->impure = true; // what hk_vm_impure looks for may be gone
    clear_dead_registers(L);
    lua_gc(L, LUA_GCCOLLECT, 0);
    arm_pressure(vm);
}

bool is_nearly_full(const hk_vm* vm)
{
    size_t used = vm->arena ? arena_used(vm->arena) : size_t(vm->mallocUsed.load(std::memory_order_relaxed));
    return used > vm->memoryLimit / 4 * 3;
}

bool has_unwound(const hk_vm* vm, lua_State* L)
{
    return L != vm->full.L || L->ci - L->base_ci < vm->full.depth;
}

} // namespace

// An error handler runs while everything still lives that the error is about to end. When a
// collection frees little, there is a second one once the call it happened in is over.
void relieve_at_safe_point(hk_vm* vm, lua_State* L, uint32_t what)
{
    if (what & kAttendCollect)
    {
        collect(vm, L);
        if (!is_nearly_full(vm))
            return;
        vm->full = {L, L->ci - L->base_ci};
    }
    else if (has_unwound(vm, L))
    {
        collect(vm, L);
        return;
    }
    vm->attention.fetch_or(kAttendUnwound, std::memory_order_seq_cst);
    install_interrupt(vm);
}

// What memory asked for when no safe point came any more, before the next thing runs.
void relieve(hk_vm* vm)
{
    uint32_t what = vm->attention.load(std::memory_order_relaxed) & (kAttendCollect | kAttendUnwound);
    if (what == 0 || vm->dead || vm->depth > 0 || !vm->running.empty())
        return;
    vm->attention.fetch_and(~what, std::memory_order_seq_cst);
    (void)protect(vm, vm->L, [&](lua_State* L) { collect(vm, L); });
}

} // namespace hk
