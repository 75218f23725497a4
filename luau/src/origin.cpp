// Where the value of a register came from, read back from bytecode and debug information.
#include "subject.h"

#include "lfunc.h"
#include "lgc.h"
#include "lobject.h"
#include "ltable.h"
#include "ltm.h"

#include "Luau/Bytecode.h"
#include "Luau/BytecodeUtils.h"

#include <ctype.h>
#include <stdio.h>

namespace hk
{

namespace
{

constexpr int kMostNested = 8;     // parts of an expression
constexpr size_t kMostText = 80;   // of an expression
constexpr size_t kMostQuoted = 30; // of a text in it

LuauOpcode op_at(const Proto* p, int pc)
{
    return LuauOpcode(LUAU_INSN_OP(p->code[pc]));
}

enum Effect
{
    kKept,
    kSet,
    kUncertain
};

bool within(int reg, int first, int count)
{
    return reg >= first && reg < first + count;
}

// What an instruction does to a register.
Effect effect_on(const Proto* p, int pc, int reg)
{
    Instruction insn = p->code[pc];
    int a = LUAU_INSN_A(insn);
    switch (LuauOpcode(LUAU_INSN_OP(insn)))
    {
    case LOP_NOP:
    case LOP_SETGLOBAL:
    case LOP_SETUPVAL:
    case LOP_CLOSEUPVALS:
    case LOP_SETTABLE:
    case LOP_SETTABLEKS:
    case LOP_SETTABLEN:
    case LOP_SETUDATAKS:
    case LOP_SETLIST:
    case LOP_RETURN:
    case LOP_JUMP:
    case LOP_JUMPBACK:
    case LOP_JUMPX:
    case LOP_JUMPIF:
    case LOP_JUMPIFNOT:
    case LOP_JUMPIFEQ:
    case LOP_JUMPIFLE:
    case LOP_JUMPIFLT:
    case LOP_JUMPIFNOTEQ:
    case LOP_JUMPIFNOTLE:
    case LOP_JUMPIFNOTLT:
    case LOP_JUMPXEQKNIL:
    case LOP_JUMPXEQKB:
    case LOP_JUMPXEQKN:
    case LOP_JUMPXEQKS:
    case LOP_PREPVARARGS:
    case LOP_NATIVECALL:
    case LOP_COVERAGE:
    case LOP_CAPTURE:
    case LOP_FASTCALL: // the call behind it sets what it sets
    case LOP_FASTCALL1:
    case LOP_FASTCALL2:
    case LOP_FASTCALL2K:
    case LOP_FASTCALL3:
    case LOP_FASTPCALL:
        return kKept;
    case LOP_LOADNIL:
    case LOP_LOADB:
    case LOP_LOADN:
    case LOP_LOADK:
    case LOP_LOADKX:
    case LOP_MOVE:
    case LOP_GETGLOBAL:
    case LOP_GETUPVAL:
    case LOP_GETIMPORT:
    case LOP_GETTABLE:
    case LOP_GETTABLEKS:
    case LOP_GETTABLEN:
    case LOP_GETUDATAKS:
    case LOP_NEWCLOSURE:
    case LOP_DUPCLOSURE:
    case LOP_NEWTABLE:
    case LOP_DUPTABLE:
    case LOP_ADD:
    case LOP_SUB:
    case LOP_MUL:
    case LOP_DIV:
    case LOP_MOD:
    case LOP_POW:
    case LOP_IDIV:
    case LOP_ADDK:
    case LOP_SUBK:
    case LOP_MULK:
    case LOP_DIVK:
    case LOP_MODK:
    case LOP_POWK:
    case LOP_IDIVK:
    case LOP_SUBRK:
    case LOP_DIVRK:
    case LOP_AND:
    case LOP_OR:
    case LOP_ANDK:
    case LOP_ORK:
    case LOP_CONCAT:
    case LOP_NOT:
    case LOP_MINUS:
    case LOP_LENGTH:
        return reg == a ? kSet : kKept;
    case LOP_NAMECALL:
    case LOP_NAMECALLUDATA:
        return within(reg, a, 2) ? kSet : kKept;
    case LOP_CALL:
    case LOP_CALLFB:
    case LOP_GETVARARGS:
        return reg >= a ? kSet : kKept;
    case LOP_FORNPREP:
    case LOP_FORNLOOP:
    case LOP_FORGPREP:
    case LOP_FORGPREP_INEXT:
    case LOP_FORGPREP_NEXT:
    case LOP_FORGLOOP:
        return reg >= a ? kUncertain : kKept;
    default:
        return kUncertain; // not of the code that our compiler makes
    }
}

// The instruction whose value is in the register before pc; -1 when more than one may have set it.
int setter_of(const Call& call, int reg, int pc)
{
    if (!call.may_read(pc))
        return -1;
    const Proto* p = call.p;
    int setter = -1, branch = 0; // code before branch may have been jumped over
    for (int at = 0; at < pc; at += Luau::getOpLength(op_at(p, at)))
    {
        LuauOpcode op = op_at(p, at);
        if (!Luau::isFastCall(op))
        {
            int target = Luau::getJumpTarget(p->code[at], uint32_t(at));
            if (target > branch && target <= pc)
                branch = target;
        }
        Effect effect = effect_on(p, at, reg);
        if (effect != kKept)
            setter = effect == kSet && at >= branch ? at : -1;
    }
    return setter;
}

std::string plain(const TString* s)
{
    return std::string(getstr(s), s->len < kMostText ? s->len : kMostText);
}

bool is_name(const std::string& s)
{
    if (s.empty() || isdigit(uint8_t(s[0])))
        return false;
    for (char c : s)
        if (!isalnum(uint8_t(c)) && c != '_')
            return false;
    return true;
}

std::string quoted(const std::string& s)
{
    std::string out = "\"";
    for (char c : s.substr(0, kMostQuoted))
        out += iscntrl(uint8_t(c)) || c == '"' ? '.' : c;
    return out + (s.size() > kMostQuoted ? "...\"" : "\"");
}

// A field, through tables that __index names; nullptr when only a call would tell.
const TValue* field_of(lua_State* L, const TValue* owner, TString* key)
{
    for (int i = 0; owner && i < kMostTables; i++)
    {
        const TValue* next = index_of(L, owner);
        if (ttistable(owner))
        {
            const TValue* found = luaH_getstr(hvalue(owner), key);
            if (!ttisnil(found) || ttisnil(next))
                return found;
        }
        if (!ttistable(next))
            return nullptr;
        owner = next;
    }
    return nullptr;
}

Origin nothing()
{
    return Origin();
}

Origin named(const char* kind, std::string text, const TValue* value)
{
    Origin o;
    o.kind = kind;
    o.text = std::move(text);
    o.value = value;
    return o;
}

Origin member(lua_State* L, const Origin& owner, TString* key, bool method = false)
{
    std::string name = plain(key);
    if (!owner.kind || owner.text.size() > kMostText)
        return nothing();
    const char* mark = method ? ":" : ".";
    bool simple = is_name(name);
    Origin o = named(
        method ? "method" : "field",
        owner.text + (simple ? mark + name : "[" + quoted(name) + "]"),
        field_of(L, owner.value, key)
    );
    o.owner = owner.text;
    o.key = name;
    o.ownerValue = owner.value;
    return o;
}

Origin element(const Origin& owner, const std::string& index)
{
    if (!owner.kind || index.empty() || owner.text.size() > kMostText)
        return nothing();
    return named("element", owner.text + "[" + index + "]", nullptr);
}

Origin global(const Call& call, TString* key)
{
    Origin o = named("global", plain(key), field_of(call.L, &call.globals, key));
    o.key = o.text;
    o.ownerValue = &call.globals;
    return o;
}

Origin captured(const Call& call, int i)
{
    if (i >= call.p->sizeupvalues || i >= call.function->nupvalues || !call.p->upvalues[i])
        return nothing();
    const TValue* held = &call.function->l.uprefs[i];
    if (ttisupval(held))
        held = upvalue(held)->v;
    return named("upvalue", plain(call.p->upvalues[i]), held);
}

// The constant that the register holds, where the code loads one.
const TValue* constant(const Call& call, int reg, int pc, TValue& number)
{
    int at = luaF_findlocal(call.p, reg, pc) ? -1 : setter_of(call, reg, pc);
    if (at < 0)
        return nullptr;
    if (op_at(call.p, at) == LOP_LOADK)
        return &call.p->k[LUAU_INSN_D(call.p->code[at])];
    if (op_at(call.p, at) != LOP_LOADN)
        return nullptr;
    setnvalue(&number, LUAU_INSN_D(call.p->code[at]));
    return &number;
}

std::string literal(const TValue* k)
{
    if (k && ttisstring(k))
        return quoted(std::string(svalue(k), tsvalue(k)->len));
    if (!k || !ttisnumber(k))
        return "";
    char text[32];
    snprintf(text, sizeof(text), "%.14g", nvalue(k));
    return text;
}

Origin result(const Call& call, int pc, int depth)
{
    Instruction insn = call.p->code[pc];
    int callee = LUAU_INSN_A(insn), given = LUAU_INSN_B(insn) - 1;
    Origin f = origin_of(call, callee, pc, depth + 1);
    if (!f.kind || f.text.size() > kMostText)
        return nothing();
    bool method = strcmp(f.kind, "method") == 0;
    std::string args = given == (method ? 1 : 0) ? "" : "...";
    if (f.text == "require" && given == 1)
    {
        TValue number;
        std::string name = literal(constant(call, callee + 1, pc, number));
        args = name.empty() ? args : name;
    }
    return named("result", f.text + "(" + args + ")", nullptr);
}

Origin keyed(const Call& call, int pc, int depth)
{
    Instruction insn = call.p->code[pc];
    Origin owner = origin_of(call, LUAU_INSN_B(insn), pc, depth + 1);
    TValue number;
    const TValue* k = constant(call, LUAU_INSN_C(insn), pc, number);
    if (k && ttisstring(k))
        return member(call.L, owner, tsvalue(k));
    std::string index = literal(k);
    return element(owner, index.empty() ? origin_of(call, LUAU_INSN_C(insn), pc, depth + 1).text : index);
}

TString* constant_name(const Proto* p, uint32_t k)
{
    return tsvalue(&p->k[k]);
}

} // namespace

Call::Call(lua_State* L, CallInfo* ci) : L(L), ci(ci), function(clvalue(ci->func)), p(ci->p)
{
    sethvalue(L, &globals, function->env);
}

const TValue* index_of(lua_State* L, const TValue* value)
{
    LuaTable* metatable = nullptr;
    if (ttistable(value))
        metatable = hvalue(value)->metatable;
    else if (ttisstring(value))
        metatable = L->global->mt[LUA_TSTRING];
    return metatable ? luaH_getstr(metatable, L->global->tmname[TM_INDEX]) : luaO_nilobject;
}

Origin import_of(const Call& call, int pc, std::string* next)
{
    uint32_t path = call.p->code[pc + 1];
    int count = int(path >> 30);
    Origin at = global(call, constant_name(call.p, (path >> 20) & 1023));
    for (int i = 1; i < count; i++)
    {
        TString* key = constant_name(call.p, (path >> (20 - 10 * i)) & 1023);
        if (next && at.value && ttisnil(at.value))
        {
            *next = plain(key);
            break;
        }
        at = member(call.L, at, key);
    }
    return at;
}

Origin origin_of(const Call& call, int reg, int pc, int depth)
{
    const Proto* p = call.p;
    if (depth > kMostNested || !call.may_read(p->sizelocvars))
        return nothing();
    if (const LocVar* local = luaF_findlocal(p, reg, pc))
        return named("local", plain(local->varname), call.ci->base + reg);
    int at = setter_of(call, reg, pc);
    if (at < 0)
        return nothing();
    Instruction insn = p->code[at];
    int b = LUAU_INSN_B(insn);
    switch (op_at(p, at))
    {
    case LOP_MOVE:
        return origin_of(call, b, at, depth + 1);
    case LOP_LOADK:
    {
        const TValue* k = &p->k[LUAU_INSN_D(insn)];
        return ttisstring(k) ? named("literal", literal(k), k) : nothing();
    }
    case LOP_GETGLOBAL:
        return global(call, constant_name(p, p->code[at + 1]));
    case LOP_GETUPVAL:
        return captured(call, b);
    case LOP_GETIMPORT:
        return import_of(call, at, nullptr);
    case LOP_GETTABLEKS:
        return member(call.L, origin_of(call, b, at, depth + 1), constant_name(p, p->code[at + 1]));
    case LOP_GETTABLEN:
        return element(origin_of(call, b, at, depth + 1), std::to_string(LUAU_INSN_C(insn) + 1));
    case LOP_GETTABLE:
        return keyed(call, at, depth);
    case LOP_NAMECALL:
    {
        bool self = reg != int(LUAU_INSN_A(insn));
        Origin owner = origin_of(call, b, at, depth + 1);
        return self ? owner : member(call.L, owner, constant_name(p, p->code[at + 1]), true);
    }
    case LOP_CALL:
        return reg == int(LUAU_INSN_A(insn)) ? result(call, at, depth) : nothing();
    default:
        return nothing();
    }
}

} // namespace hk
