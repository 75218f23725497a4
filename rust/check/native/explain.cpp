#include "explain.h"

#include "mismatch.h"
#include "types.h"

#include "Luau/Error.h"
#include "Luau/ToString.h"
#include "Luau/TypePack.h"

#include <algorithm>

using namespace Luau;

namespace lc
{

namespace
{

constexpr size_t kLongestText = 2000;

std::vector<std::string> globalNames(const Subject& s)
{
    std::vector<std::string> names(s.tree.names.begin(), s.tree.names.end());
    for (const auto& [symbol, binding] : s.globals.bindings)
        if (const char* name = symbol.c_str())
            names.push_back(name);
    return names;
}

TypeId globalType(const Subject& s, const std::string& name)
{
    for (const auto& [symbol, binding] : s.globals.bindings)
        if (symbol.c_str() && name == symbol.c_str())
            return binding.typeId;
    return nullptr;
}

TypeId typeAt(const Subject& s, const AstExpr* expr)
{
    const TypeId* type = expr ? s.module.astTypes.find(expr) : nullptr;
    return type ? follow(*type) : nullptr;
}

// The fields of a string are those of its library.
std::vector<std::string> fieldsOf(const Subject& s, TypeId type)
{
    auto* primitive = get<PrimitiveType>(follow(type));
    if (!primitive || primitive->type != PrimitiveType::String)
        return fieldNames(type);
    TypeId library = globalType(s, "string");
    return library ? fieldNames(library) : std::vector<std::string>();
}

struct Explainer
{
    const Subject& s;
    const TypeError& error;
    Finding f;

    void operator()(const UnknownSymbol& e)
    {
        f.name = e.name;
        if (e.context == UnknownSymbol::Type)
        {
            f.kind = "unknown_type";
            return;
        }
        bool assigned = s.tree.assigns(e.name);
        bool called = s.tree.calleeAt(error.location) && !assigned;
        f.kind = assigned ? "new_global" : called ? "unknown_function" : "unknown_global";
        f.declared = called;
        f.path = e.name;
        f.choose(e.name, globalNames(s));
    }

    void unknownField(TypeId table, const std::string& key)
    {
        // A function that returns nil in one place gives nothing else for the old solver.
        if (get<PrimitiveType>(follow(table)) && mayBeNil(table))
            return;
        f.name = key;
        f.declared = isDeclared(table);
        f.choose(key, fieldsOf(s, table));
        f.given = printed(table);
        if (s.tree.assignsField(key))
            f.declared = false; // it may have been added
        const AstExpr* expr = s.tree.exprAt(error.location);
        const AstExprCall* call = s.tree.calleeAt(error.location);
        if (const AstExprCall* method = s.tree.callAt(error.location); method && method->self)
        {
            call = method;
            expr = method->func;
        }
        f.kind = s.tree.isTarget(error.location) ? "new_field" : call ? "unknown_function" : "unknown_field";
        if (!expr)
            return;
        if (auto* index = expr->as<AstExprIndexName>())
        {
            f.path = chain(index->expr);
            f.location = index->indexLocation;
        }
        else if (auto* index = expr->as<AstExprIndexExpr>())
        {
            f.path = chain(index->expr);
            f.location = index->index->location;
        }
    }

    void operator()(const UnknownProperty& e)
    {
        unknownField(e.table, e.key);
    }
    void operator()(const UnknownPropButFoundLikeProp& e)
    {
        unknownField(e.table, e.key);
    }

    void operator()(const MissingUnionProperty& e)
    {
        // Some options have the field: that is no misspelling.
        unknownField(e.type, e.key);
        f.kind = "maybe_missing";
    }

    void operator()(const TypeMismatch& e)
    {
        if (inFreeList())
            return;
        explainMismatch(e, f);
        inArgument();
        if (literalFits(e.wantedType))
            f.kind = "";
    }

    // Luau wants the items of a list to be of the first one's type where nobody said what they are.
    bool inFreeList() const
    {
        const AstExprTable* list = s.tree.literalAround(error.location);
        const TypeId* wanted = list ? s.module.astExpectedTypes.find(list) : nullptr;
        if (!list || !wanted || isAny(*wanted))
            return list != nullptr;
        TypeId type = follow(*wanted); // of a local without annotation: the list's own
        return get<GenericType>(type) || get<FreeType>(type) || type == typeAt(s, list);
    }

    // Whether the field of the literal that the finding is about fits after all: a literal has no other owner, so that
    // its fields need not be of exactly the wanted type.
    bool literalFits(TypeId wanted) const
    {
        const AstExpr* expr = s.tree.exprAt(error.location);
        std::string rest = literalField;
        while (expr && !rest.empty())
        {
            auto* literal = expr->as<AstExprTable>();
            const TableType* table = tableOf(wanted);
            if (!literal || !table)
                return false;
            std::string key = takeKey(rest);
            TypeId type = fieldType(table, key);
            if (!type && table->indexer)
                type = table->indexer->indexResultType;
            expr = itemOf(literal, key);
            if (!type)
                return false;
            wanted = type;
        }
        TypeId given = expr && !literalField.empty() ? typeAt(s, expr) : nullptr;
        return given && covers(wanted, given);
    }

    static std::string takeKey(std::string& path)
    {
        std::string key = path.substr(0, path.find('.'));
        path = key.size() < path.size() ? path.substr(key.size() + 1) : "";
        return key;
    }

    static const AstExpr* itemOf(const AstExprTable* table, const std::string& key)
    {
        for (const AstExprTable::Item& item : table->items)
            if (auto* name = item.key ? item.key->as<AstExprConstantString>() : nullptr)
                if (key == std::string_view(name->value.data, name->value.size))
                    return item.value;
        return nullptr;
    }

    void operator()(const MissingProperties& e)
    {
        explainMissing(e, f);
        inArgument();
    }

    std::string literalField; // as f.field, from the expression that Luau names

    void inArgument()
    {
        literalField = f.field;
        place();
        std::string outer;
        const AstExprCall* call = s.tree.inArguments(error.location, outer);
        if (!call)
            return;
        f.path = chain(call->func);
        f.field = outer + (outer.empty() || f.field.empty() || f.field[0] == '[' ? "" : ".") + f.field;
    }

    void operator()(const CountMismatch& e)
    {
        const AstExprCall* call = s.tree.argumentAt(error.location);
        if (!call)
            call = s.tree.callAt(error.location);
        // A call in the last place gives as many values as it has: type(next(t)).
        bool spread = call && call->args.size > 0 && call->args.size <= e.expected && e.actual > e.expected;
        if (s.tree.isIterated(error.location) || spread)
            return;
        f.kind = e.context == CountMismatch::Arg ? "argument_count" : "value_count";
        f.name = e.function;
        f.wanted = std::to_string(e.expected);
        if (e.maximum && *e.maximum != e.expected)
            f.wanted += " to " + std::to_string(*e.maximum);
        else if (e.isVariadic || (e.context == CountMismatch::Arg && !e.maximum))
            f.wanted = "at least " + f.wanted;
        f.given = std::to_string(e.actual);
        if (e.context == CountMismatch::Arg)
            missingArgument(e);
    }

    // A call without its table of arguments lacks the fields that must be in it.
    void missingArgument(const CountMismatch& e)
    {
        const AstExprCall* call = s.tree.callAt(error.location);
        if (!call)
            call = s.tree.calleeAt(error.location);
        if (!call)
            return;
        f.path = chain(call->func);
        TypeId callee = typeAt(s, call->func);
        auto* function = callee ? get<FunctionType>(callee) : nullptr;
        if (!function || e.actual >= e.expected)
            return;
        auto [head, tail] = flatten(function->argTypes);
        size_t at = e.actual + (call->self ? 1 : 0);
        const TableType* table = at < head.size() ? tableOf(head[at]) : nullptr;
        if (!table || requiredFields(table).empty())
            return;
        f.kind = "missing_field";
        f.declared = isDeclared(table);
        f.names = requiredFields(table);
        f.wanted = printed(head[at]);
        f.given = "";
    }

    void operator()(const CannotExtendTable& e)
    {
        f.kind = "new_field";
        f.name = e.prop;
        f.given = printed(e.tableType);
        f.choose(e.prop, fieldNames(e.tableType));
    }

    void operator()(const OptionalValueAccess& e)
    {
        f.kind = "maybe_nil";
        f.given = printed(e.optional);
        const AstExpr* expr = s.tree.exprAt(error.location);
        if (expr && expr->is<AstExprUnary>())
            expr = expr->as<AstExprUnary>()->expr;
        f.path = chain(expr);
    }

    // What the old solver cannot call and the engine can: what is iterated, one of several functions.
    bool mayBeCalled(TypeId type) const
    {
        type = follow(type);
        if (s.tree.isIterated(error.location) && !get<PrimitiveType>(type))
            return true;
        if (auto* many = get<UnionType>(type))
            return std::all_of(
                begin(many), end(many), [](TypeId t) { return get<FunctionType>(follow(t)) || isAny(t); }
            );
        return isAny(type);
    }

    void operator()(const CannotCallNonFunction& e)
    {
        if (mayBeCalled(e.ty))
            return;
        f.kind = "not_a_function";
        f.given = printed(e.ty);
        const AstExprCall* call = s.tree.calleeAt(error.location);
        if (!call)
            call = s.tree.callAt(error.location);
        const AstExpr* callee = call ? call->func : s.tree.exprAt(error.location);
        f.path = chain(callee);
        auto* local = callee ? callee->as<AstExprLocal>() : nullptr;
        if (local && globalType(s, f.path))
            f.wanted = std::to_string(local->local->location.begin.line + 1); // the line that hides the global
    }

    void operator()(const NotATable& e)
    {
        f.kind = "type_mismatch";
        f.wanted = "table";
        f.given = printed(e.ty);
    }

    void operator()(const CannotCompareUnrelatedTypes& e)
    {
        f.kind = "compare";
        f.wanted = printed(e.left);
        f.given = printed(e.right);
    }

    void operator()(const UnknownRequire& e)
    {
        f.kind = "unknown_module";
        f.name = e.modulePath;
    }

    // "Type A cannot be compared with B". After `assert(x == "a")` a variable has that one value for the old solver, also
    // when it was assigned since.
    bool comparison(const std::string& message)
    {
        static const std::string head = "Type ", middle = " cannot be compared with ";
        size_t at = message.find(middle);
        if (message.compare(0, head.size(), head) != 0 || at == std::string::npos)
            return false;
        f.wanted = message.substr(head.size(), at - head.size());
        f.given = message.substr(at + middle.size());
        auto one = [](const std::string& type) { return type[0] == '"' && type.find('|') == std::string::npos; };
        f.kind = one(f.wanted) && (f.given == "number" || one(f.given)) ? "" : "compare";
        return true;
    }

    // Type functions are for the new solver; the engine takes them.
    void operator()(const GenericError& e)
    {
        if (comparison(e.message))
            return;
        f.kind = e.message == "This syntax is not supported" ? "" : "other";
    }

    void operator()(const ModuleHasCyclicDependency& e)
    {
        f.kind = "module_cycle";
        f.names.assign(e.cycle.begin(), e.cycle.end());
    }

    // It asks for annotations, which scripts need not have.
    void operator()(const CannotInferBinaryOperation&)
    {
        f.kind = "";
    }

    void operator()(const SyntaxError&)
    {
        f.kind = "syntax";
    }
    void operator()(const FunctionRequiresSelf&)
    {
        method("colon");
    }
    void operator()(const FunctionDoesNotTakeSelf&)
    {
        method("dot");
    }
    // Functions need not say what they return, and may end by a call that never does.
    void operator()(const FunctionExitsWithoutReturning&)
    {
        const AstExprFunction* function = s.tree.functionBefore(error.location.end);
        if (!function || (function->returnAnnotation && !neverEnds(function->body)))
            f.kind = "no_return";
    }

    bool neverEnds(const AstStatBlock* body) const
    {
        if (body->body.size == 0)
            return false;
        const AstStat* last = body->body.data[body->body.size - 1];
        if (auto* loop = last->as<AstStatWhile>())
        {
            auto* always = loop->condition->as<AstExprConstantBool>();
            return always && always->value;
        }
        auto* stat = last->as<AstStatExpr>();
        auto* call = stat ? stat->expr->as<AstExprCall>() : nullptr;
        TypeId callee = call ? typeAt(s, call->func) : nullptr;
        auto* function = callee ? get<FunctionType>(callee) : nullptr;
        std::optional<TypeId> result = function ? first(function->retTypes) : std::nullopt;
        return result && get<NeverType>(follow(*result));
    }

    void operator()(const CodeTooComplex&)
    {
        f.kind = "too_complex";
    }
    void operator()(const UnificationTooComplex&)
    {
        f.kind = "too_complex";
    }
    void operator()(const NormalizationTooComplex&)
    {
        f.kind = "too_complex";
    }

    template<typename T>
    void operator()(const T&)
    {
        f.kind = "other";
    }

    void method(const char* kind)
    {
        f.kind = kind;
        if (const AstExprCall* call = s.tree.callAt(error.location))
            f.path = chain(call->func);
    }

    // Moves the finding from a table literal to the field in it that it is about.
    void place()
    {
        const AstExpr* expr = s.tree.exprAt(error.location);
        if (const AstExpr* given = s.tree.givenAt(error.location))
        {
            expr = given;
            f.location = expr->location;
        }
        std::string rest = f.field;
        while (expr && !rest.empty())
        {
            auto* table = expr->as<AstExprTable>();
            if (!table)
                return;
            const AstExpr* next = itemOf(table, takeKey(rest));
            if (!next)
                return;
            expr = next;
            f.location = expr->location;
        }
    }
};

} // namespace

Findings explain(const Subject& s)
{
    Findings findings;
    for (const TypeError& error : s.module.errors)
    {
        if (findings.size() >= kMostFindings)
            break;
        // Functions and scripts may return this here and that there; Luau wants one type of a script.
        bool returns = (get<TypeMismatch>(error) || get<CountMismatch>(error)) && s.tree.isFreeReturn(error.location);
        if (containsParseErrorName(error) || returns)
            continue;
        Explainer explainer{s, error, {}, {}};
        explainer.f.location = error.location;
        visit(explainer, error.data);
        if (explainer.f.kind == "other")
            explainer.f.text = toString(error).substr(0, kLongestText);
        if (!explainer.f.kind.empty())
            findings.push_back(std::move(explainer.f));
    }
    unknownFields(s, findings);
    return findings;
}

} // namespace lc
