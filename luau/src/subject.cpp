// What a failed operation was about: from the instruction that raised an error to the expression that
// had no value. The error's own message must agree with what is found; else nothing is said.
#include "subject.h"

#include "lobject.h"
#include "ltm.h"

#include "Luau/Bytecode.h"
#include "Luau/BytecodeUtils.h"

namespace hk
{

namespace
{

// An operation that fails for the type of one operand.
struct Failure
{
    Origin origin;
    const char* type = nullptr; // of the operand
    bool calls = false;         // it was to be called
};

// The instruction that the call is at; -1 when the place is not known.
int instruction_of(const Call& call)
{
    if (!call.ci->savedpc)
        return -1;
    ptrdiff_t at = call.ci->savedpc - call.p->code - 1;
    if (at < 0 || at >= call.p->sizecode)
        return -1;
    for (int pc = 0; pc < call.p->sizecode;)
    {
        int next = pc + Luau::getOpLength(LuauOpcode(LUAU_INSN_OP(call.p->code[pc])));
        if (at < next)
            return pc;
        pc = next;
    }
    return -1;
}

class Finder
{
public:
    Finder(lua_State* L, CallInfo* ci, const char* message, size_t size)
        : call(L, ci), pc(instruction_of(call)), message(message, size)
    {
    }

    bool find()
    {
        if (pc < 0)
            return false;
        insn = call.p->code[pc];
        return look() && failure.origin.kind;
    }

    void put(Buf& out) const;

private:
    Call call;
    int pc;
    uint32_t insn = 0;
    const std::string message;
    Failure failure;

    bool look();
    bool binary(const TValue* left, int leftReg, const TValue* right, int rightReg);
    bool concat();
    bool compare();

    int a() const
    {
        return LUAU_INSN_A(insn);
    }
    int b() const
    {
        return LUAU_INSN_B(insn);
    }
    int c() const
    {
        return LUAU_INSN_C(insn);
    }
    const TValue* reg(int r) const
    {
        return call.ci->base + r;
    }
    const TValue* aux() const
    {
        return &call.p->k[call.p->code[pc + 1]];
    }
    const char* type(const TValue* v) const
    {
        return luaT_objtypename(call.L, v);
    }
    bool says(const std::string& what) const
    {
        return message.size() >= what.size() && message.compare(message.size() - what.size(), what.size(), what) == 0;
    }
    bool about(int r)
    {
        failure.type = type(reg(r));
        failure.origin = origin_of(call, r, pc);
        return true;
    }
    bool value_of(int r, const char* what)
    {
        return says(std::string("attempt to ") + what + " a " + type(reg(r)) + " value") && about(r);
    }
    bool index(int r, const TValue* key)
    {
        std::string as = ttisstring(key) && tsvalue(key)->len <= 64 ? std::string("'") + svalue(key) + "'" : type(key);
        return says(std::string("attempt to index ") + type(reg(r)) + " with " + as) && about(r);
    }
    bool method();
    bool import();
};

bool Finder::method()
{
    if (index(b(), aux()))
        return true;
    // The object was copied there before the method was looked up.
    if (!says(std::string("attempt to call missing method '") + svalue(aux()) + "' of " + type(reg(a() + 1))))
        return false;
    Origin owner = origin_of(call, b(), pc);
    failure.origin.kind = "method";
    failure.origin.owner = owner.text;
    failure.origin.text = owner.text + ":" + svalue(aux());
    failure.origin.key = svalue(aux());
    failure.origin.ownerValue = reg(a() + 1);
    failure.origin.value = luaO_nilobject;
    failure.type = "nil";
    failure.calls = true;
    return owner.kind != nullptr;
}

bool Finder::import()
{
    std::string key;
    failure.origin = import_of(call, pc, &key);
    failure.type = "nil";
    return !key.empty() && says("attempt to index nil with '" + key + "'");
}

// The operand that is at fault: the one that is nil, or the only one that is no number.
bool Finder::binary(const TValue* left, int leftReg, const TValue* right, int rightReg)
{
    if (message.find("attempt to perform arithmetic (") == std::string::npos)
        return false;
    const char *l = type(left), *r = type(right);
    if (!says(strcmp(l, r) == 0 ? std::string(") on ") + l : std::string(") on ") + l + " and " + r))
        return false;
    if (leftReg >= 0 && (ttisnil(left) || (ttisnumber(right) && !ttisnumber(left))))
        return about(leftReg);
    if (rightReg >= 0 && (ttisnil(right) || (ttisnumber(left) && !ttisnumber(right))))
        return about(rightReg);
    return false;
}

bool Finder::concat()
{
    // From the right, as Luau does it; what is done already is a text.
    for (int r = c(); r >= b(); r--)
    {
        if (ttisstring(reg(r)) || ttisnumber(reg(r)))
            continue;
        std::string name = type(reg(r));
        bool right = says(" with " + name), left = message.find("attempt to concatenate " + name) != std::string::npos;
        return message.find("attempt to concatenate ") != std::string::npos && (left || right) && about(r);
    }
    return false;
}

bool Finder::compare()
{
    int other = int(call.p->code[pc + 1]);
    if (other >= call.p->maxstacksize || message.find("attempt to compare ") == std::string::npos)
        return false;
    const TValue *l = reg(a()), *r = reg(other);
    std::string left = type(l), right = type(r);
    bool agrees = false;
    for (const char* op : {" < ", " <= "})
        agrees = agrees || says("attempt to compare " + left + op + right) ||
                 says("attempt to compare " + right + op + left);
    if (!agrees || ttisnil(l) == ttisnil(r))
        return false;
    return about(ttisnil(l) ? a() : other);
}

bool Finder::look()
{
    switch (LuauOpcode(LUAU_INSN_OP(insn)))
    {
    case LOP_CALL:
    case LOP_CALLFB:
        failure.calls = true;
        return value_of(a(), "call");
    case LOP_NAMECALL:
        return method();
    case LOP_GETIMPORT:
        return import();
    case LOP_GETTABLEKS:
    case LOP_SETTABLEKS:
        return index(b(), aux());
    case LOP_GETTABLE:
    case LOP_SETTABLE:
        return index(b(), reg(c()));
    case LOP_GETTABLEN:
    case LOP_SETTABLEN:
    {
        TValue n;
        setnvalue(&n, c() + 1);
        return index(b(), &n);
    }
    case LOP_LENGTH:
        return value_of(b(), "get length of");
    case LOP_FORGPREP:
    case LOP_FORGPREP_INEXT:
    case LOP_FORGPREP_NEXT:
        return value_of(a(), "iterate over");
    case LOP_ADD:
    case LOP_SUB:
    case LOP_MUL:
    case LOP_DIV:
    case LOP_MOD:
    case LOP_POW:
    case LOP_IDIV:
        return binary(reg(b()), b(), reg(c()), c());
    case LOP_ADDK:
    case LOP_SUBK:
    case LOP_MULK:
    case LOP_DIVK:
    case LOP_MODK:
    case LOP_POWK:
    case LOP_IDIVK:
        return binary(reg(b()), b(), &call.p->k[c()], -1);
    case LOP_SUBRK:
    case LOP_DIVRK:
        return binary(&call.p->k[b()], -1, reg(c()), c());
    case LOP_MINUS:
        return binary(reg(b()), b(), reg(b()), -1);
    case LOP_CONCAT:
        return concat();
    case LOP_JUMPIFLE:
    case LOP_JUMPIFLT:
    case LOP_JUMPIFNOTLE:
    case LOP_JUMPIFNOTLT:
        return compare();
    default:
        return false;
    }
}

void put(Buf& out, const std::string& s)
{
    out.put_text(HK_T_STRING, s.data(), s.size());
}

void Finder::put(Buf& out) const
{
    const Origin& o = failure.origin;
    Names names;
    // What was looked up must still be missing: the table may be another one by now.
    if (o.ownerValue && o.value && ttisnil(o.value) && strcmp(failure.type, "nil") == 0)
        names = names_in(call.L, o.ownerValue, o.key, failure.calls);
    if (strcmp(o.kind, "global") == 0)
        names.few.clear(); // there are many, and most are known
    out.put_list(8);
    hk::put(out, o.kind);
    hk::put(out, o.text);
    hk::put(out, failure.type);
    hk::put(out, o.owner);
    hk::put(out, o.key);
    hk::put(out, names.near);
    out.put_list(uint32_t(names.few.size()));
    for (const std::string& name : names.few)
        hk::put(out, name);
    out.put_number(double(names.count));
}

} // namespace

void put_subject(lua_State* L, CallInfo* ci, const char* message, size_t size, Buf& out)
{
    // A message of Luau's own is short.
    constexpr size_t kMostMessage = 2048;
    if (size > kMostMessage || ci <= L->base_ci || !isLua(ci))
        return;
    size_t before = out.size();
    try
    {
        Finder finder(L, ci, message, size);
        if (!finder.find())
            return;
        Insist insist(out);
        finder.put(out);
    }
    catch (const std::bad_alloc&)
    {
        out.resize(before);
    }
}

} // namespace hk
