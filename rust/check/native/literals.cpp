// Unknown fields of table literals.
#include "explain.h"

#include "types.h"

#include "Luau/DenseHash.h"

using namespace Luau;

namespace lc
{

namespace
{

constexpr int kDeepest = 50; // tables in tables

struct Literals
{
    const Subject& s;
    Findings& findings;
    DenseHashSet<const AstExprTable*> seen{nullptr};

    // A literal whose every wanted type is a table with names alone. An indexer takes any name.
    static bool exact(TypeId wanted, const std::vector<const TableType*>& tables)
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
                if (isAny(option) || get<IntersectionType>(option) ||
                    (primitive && primitive->type == PrimitiveType::Table))
                    return false;
                if (get<TableType>(option))
                    options++;
            }
        }
        if (tables.size() != options)
            return false;
        for (const TableType* table : tables)
            if (table->indexer || table->state != TableState::Sealed)
                return false;
        return !tables.empty();
    }

    void literal(const AstExprTable* expr, TypeId wanted, const std::string& path, const std::string& field, int depth)
    {
        if (depth > kDeepest || isAny(wanted))
            return;
        seen.insert(expr);
        std::vector<const TableType*> tables = tablesOf(wanted);
        bool known = exact(wanted, tables);
        for (const AstExprTable::Item& item : expr->items)
        {
            if (item.kind == AstExprTable::Item::List)
                element(item.value, tables, path, field, depth);
            auto* key = item.key ? item.key->as<AstExprConstantString>() : nullptr;
            if (!key)
                continue;
            std::string name(key->value.data, key->value.size);
            std::string inner = field;
            extendField(inner, name);
            TypeId type = nullptr;
            int found = 0;
            for (const TableType* table : tables)
                if (TypeId at = fieldType(table, name))
                    type = at, found++;
            if (!found && known)
                add(item.key, wanted, tables, path, field, name);
            else if (found == 1)
                value(item.value, type, path, inner, depth);
            else if (!found && tables.size() == 1 && tables[0]->indexer)
                value(item.value, tables[0]->indexer->indexResultType, path, inner, depth);
        }
    }

    void element(
        const AstExpr* expr,
        const std::vector<const TableType*>& tables,
        const std::string& path,
        const std::string& field,
        int depth
    )
    {
        if (tables.size() == 1 && tables[0]->indexer)
            value(expr, tables[0]->indexer->indexResultType, path, field + "[]", depth);
    }

    void value(const AstExpr* expr, TypeId wanted, const std::string& path, const std::string& field, int depth)
    {
        if (auto* group = expr->as<AstExprGroup>())
            expr = group->expr;
        if (auto* table = expr->as<AstExprTable>())
            literal(table, wanted, path, field, depth + 1);
    }

    void
    add(const AstExpr* at,
        TypeId wanted,
        const std::vector<const TableType*>& tables,
        const std::string& path,
        const std::string& field,
        const std::string& name)
    {
        Finding f;
        f.kind = "unknown_field";
        f.module = s.module.name;
        f.location = at->location;
        f.path = path;
        f.field = field;
        extendField(f.field, name);
        f.name = name;
        f.wanted = printed(wanted);
        f.names = fieldNames(wanted);
        f.declared = true;
        for (const TableType* table : tables)
            f.declared = f.declared && isDeclared(table);
        f.text = "Unknown field '" + name + "'";
        findings.push_back(std::move(f));
    }
};

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
        literals.literal(expr, *wanted, call ? chain(call->func) : "", field, 0);
    }
}

} // namespace lc
