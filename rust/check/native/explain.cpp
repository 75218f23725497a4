#include "explain.h"

#include "mismatch.h"
#include "types.h"

#include "Luau/Error.h"

using namespace Luau;

namespace lc
{

namespace
{

constexpr size_t kMostFindings = 200;
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
        explainMismatch(e, f);
        inArgument();
    }

    void operator()(const MissingProperties& e)
    {
        explainMissing(e, f);
        inArgument();
    }

    void inArgument()
    {
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
        f.path = chain(s.tree.exprAt(error.location));
    }

    void operator()(const CannotCallNonFunction& e)
    {
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

    // Type functions are for the new solver; the engine takes them.
    void operator()(const GenericError& e)
    {
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
        f.kind = "colon";
    }
    void operator()(const FunctionDoesNotTakeSelf&)
    {
        f.kind = "dot";
    }
    void operator()(const FunctionExitsWithoutReturning&)
    {
        f.kind = "no_return";
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
        std::string rest = f.field;
        while (expr && !rest.empty())
        {
            auto* table = expr->as<AstExprTable>();
            if (!table)
                return;
            std::string key = rest.substr(0, rest.find('.'));
            rest = key.size() < rest.size() ? rest.substr(key.size() + 1) : "";
            const AstExpr* next = nullptr;
            for (const AstExprTable::Item& item : table->items)
                if (auto* name = item.key ? item.key->as<AstExprConstantString>() : nullptr)
                    if (key == std::string_view(name->value.data, name->value.size))
                        next = item.value;
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
        bool returns = (get<TypeMismatch>(error) || get<CountMismatch>(error)) && s.tree.isFinalReturn(error.location);
        if (containsParseErrorName(error) || returns)
            continue;
        Explainer explainer{s, error, {}};
        explainer.f.module = s.module.name;
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
