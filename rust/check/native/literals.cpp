// What Luau lets pass: unknown fields of table literals, and unknown fields by a key in brackets.
#include "explain.h"

#include "types.h"

#include "Luau/DenseHash.h"

#include <algorithm>

using namespace Luau;

namespace lc
{

namespace
{

constexpr int kDeepest = 50; // tables in tables

using Tables = std::vector<const TableType*>;

std::string textOf(const AstExprConstantString* text)
{
    return std::string(text->value.data, text->value.size);
}

// Whether every wanted type is a table with names alone. An indexer takes any name.
bool exact(TypeId wanted, const Tables& tables)
{
    wanted = follow(wanted);
    size_t options = 1;
    if (auto* many = get<UnionType>(wanted))
    {
        options = 0;
        for (TypeId option : many)
        {
            option = follow(option);
            auto* primitive = get<PrimitiveType>(option);
            if (isAny(option) || get<IntersectionType>(option))
                return false;
            if (primitive && primitive->type == PrimitiveType::Table)
                return false;
            if (get<TableType>(option))
                options++;
        }
    }
    auto open = [](const TableType* table) { return table->indexer || table->state != TableState::Sealed; };
    return !tables.empty() && tables.size() == options && std::none_of(tables.begin(), tables.end(), open);
}

// The text that a type stands for; nullptr: it is another one.
const StringSingleton* oneText(TypeId type)
{
    auto* singleton = type ? get<SingletonType>(follow(type)) : nullptr;
    return singleton ? get<StringSingleton>(singleton) : nullptr;
}

struct Literals
{
    const Subject& s;
    Findings& findings;
    DenseHashSet<const AstExprTable*> seen{nullptr};

    struct Place
    {
        std::string path, field;
        int depth;

        Place in(const std::string& name) const
        {
            Place inner{path, field, depth + 1};
            extendField(inner.field, name);
            return inner;
        }
    };

    void literal(const AstExprTable* expr, TypeId wanted, const Place& at)
    {
        if (at.depth > kDeepest || findings.size() > kMostFindings || isAny(wanted))
            return;
        seen.insert(expr);
        Tables tables = tablesOf(wanted);
        bool known = exact(wanted, tables);
        if (known && tables.size() > 1 && !narrow(expr, tables, at))
            return;
        for (const AstExprTable::Item& item : expr->items)
        {
            if (item.kind == AstExprTable::Item::List && tables.size() == 1 && tables[0]->indexer)
                value(item.value, tables[0]->indexer->indexResultType, at.in(""));
            auto* key = item.key ? item.key->as<AstExprConstantString>() : nullptr;
            if (key)
                field(item, textOf(key), tables, known, wanted, at);
        }
    }

    void field(
        const AstExprTable::Item& item,
        const std::string& name,
        const Tables& tables,
        bool known,
        TypeId wanted,
        const Place& at
    )
    {
        std::vector<TypeId> types;
        for (const TableType* table : tables)
            if (TypeId type = fieldType(table, name))
                types.push_back(type);
        if (types.size() == 1)
            value(item.value, types[0], at.in(name));
        else if (types.empty() && known)
            unknown(item.key, name, tables, wanted, at.in(name));
        else if (types.empty() && tables.size() == 1 && tables[0]->indexer)
            value(item.value, tables[0]->indexer->indexResultType, at.in(name));
    }

    void value(const AstExpr* expr, TypeId wanted, const Place& at)
    {
        while (auto* group = expr->as<AstExprGroup>())
            expr = group->expr;
        if (auto* table = expr->as<AstExprTable>())
            literal(table, wanted, at);
    }

    // Of several tables, keeps those whose fixed texts the literal has: { kind = "circle" }. Says so where there is none,
    // and what the only one lacks.
    bool narrow(const AstExprTable* expr, Tables& tables, const Place& at)
    {
        for (const AstExprTable::Item& item : expr->items)
        {
            auto* key = item.key ? item.key->as<AstExprConstantString>() : nullptr;
            auto* text = item.value->as<AstExprConstantString>();
            if (!key || !text)
                continue;
            std::string name = textOf(key), given = textOf(text);
            std::vector<std::string> texts;
            for (const TableType* table : tables)
                if (auto* one = oneText(fieldType(table, name)))
                    texts.push_back(one->value);
            if (texts.size() != tables.size())
                continue;
            Tables left;
            for (const TableType* table : tables)
                if (oneText(fieldType(table, name))->value == given)
                    left.push_back(table);
            if (left.empty())
                return none(item.value, given, texts, at.in(name)), false;
            tables = left;
        }
        if (tables.size() == 1)
            missing(expr, tables[0], at);
        return true;
    }

    void none(const AstExpr* expr, const std::string& given, std::vector<std::string> texts, const Place& at)
    {
        std::sort(texts.begin(), texts.end());
        texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
        Finding f = begin("type_mismatch", expr, at);
        for (const std::string& text : texts)
            f.wanted += (f.wanted.empty() ? "\"" : " | \"") + text + "\"";
        f.given = "\"" + given + "\"";
        findings.push_back(std::move(f));
    }

    void missing(const AstExprTable* expr, const TableType* table, const Place& at)
    {
        std::vector<std::string> lacking = requiredFields(table);
        for (const AstExprTable::Item& item : expr->items)
        {
            auto* key = item.key ? item.key->as<AstExprConstantString>() : nullptr;
            if (key)
                lacking.erase(std::remove(lacking.begin(), lacking.end(), textOf(key)), lacking.end());
            else if (item.key)
                return; // who knows
        }
        if (lacking.empty())
            return;
        Finding f = begin("missing_field", expr, at);
        f.declared = isDeclared(table);
        f.names = lacking;
        findings.push_back(std::move(f));
    }

    void unknown(const AstExpr* key, const std::string& name, const Tables& tables, TypeId wanted, const Place& at)
    {
        Finding f = begin("unknown_field", key, at);
        f.name = name;
        f.wanted = printed(wanted);
        std::vector<std::string> names;
        for (const TableType* table : tables)
            for (const auto& [field, property] : table->props)
                names.push_back(field);
        f.choose(name, std::move(names));
        f.declared =
            std::all_of(tables.begin(), tables.end(), [](const TableType* table) { return isDeclared(table); });
        findings.push_back(std::move(f));
    }

    Finding begin(const char* kind, const AstExpr* expr, const Place& at)
    {
        Finding f;
        f.kind = kind;
        f.location = expr->location;
        f.path = at.path;
        f.field = at.field;
        return f;
    }
};

void unknownKey(const Subject& s, const AstExprIndexExpr* expr, Findings& findings)
{
    auto* key = expr->index->as<AstExprConstantString>();
    const TypeId* type = s.module.astTypes.find(expr->expr);
    if (!key || !type || s.tree.isTarget(expr->location) || s.tree.assignsField(textOf(key)))
        return;
    Tables tables = tablesOf(*type);
    if (!exact(*type, tables))
        return;
    std::vector<std::string> names;
    for (const TableType* table : tables)
    {
        if (!isDeclared(table) || fieldType(table, textOf(key)))
            return;
        for (const auto& [name, property] : table->props)
            names.push_back(name);
    }
    Finding f;
    f.kind = s.tree.calleeAt(expr->location) ? "unknown_function" : "unknown_field";
    f.location = key->location;
    f.declared = true;
    f.path = chain(expr->expr);
    f.name = textOf(key);
    f.choose(f.name, std::move(names));
    findings.push_back(std::move(f));
}

} // namespace

void unknownFields(const Subject& s, Findings& findings)
{
    Literals literals{s, findings};
    for (const AstExprTable* expr : s.tree.literals) // outer ones come first
    {
        const TypeId* wanted = s.module.astExpectedTypes.find(expr);
        if (!wanted || literals.seen.contains(expr))
            continue;
        std::string field;
        const AstExprCall* call = s.tree.inArguments(expr->location, field);
        literals.literal(expr, *wanted, {call ? chain(call->func) : "", field, 0});
    }
    for (const AstExprIndexExpr* expr : s.tree.keys)
        if (findings.size() <= kMostFindings)
            unknownKey(s, expr, findings);
}

} // namespace lc
