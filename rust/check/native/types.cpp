#include "types.h"

#include <algorithm>

#include "Luau/ToString.h"
#include "Luau/TypePack.h"

using namespace Luau;

namespace lc
{

// So many names of fields are given to a message that looks for a similar one.
constexpr size_t kMostNames = 2000;

std::string printed(TypeId type)
{
    ToStringOptions options;
    options.maxTableLength = 160;
    options.maxTypeLength = 160;
    options.hideTableKind = true;
    options.functionTypeArguments = true;
    return toString(type, options);
}

std::vector<const TableType*> tablesOf(TypeId type)
{
    std::vector<const TableType*> tables;
    auto take = [&](TypeId option)
    {
        option = follow(option);
        if (auto* meta = get<MetatableType>(option))
            option = follow(meta->table);
        if (auto* table = get<TableType>(option))
            tables.push_back(table);
    };
    type = follow(type);
    if (auto* many = get<UnionType>(type))
        for (TypeId option : many)
            take(option);
    else if (auto* all = get<IntersectionType>(type))
        for (TypeId part : all)
            take(part);
    else
        take(type);
    return tables;
}

const TableType* tableOf(TypeId type)
{
    type = follow(type);
    if (get<IntersectionType>(type))
        return nullptr;
    std::vector<const TableType*> tables = tablesOf(type);
    return tables.size() == 1 ? tables[0] : nullptr;
}

// Of Luau's library, of the definitions, and of the SDK nothing changes at run time.
static bool isFixed(const ModuleName& module)
{
    return module == "@luau" || module == "@definitions" || module.compare(0, 11, "=@embedded/") == 0;
}

// The tables that Luau makes itself, as that of strings, have no module.
bool isDeclared(const TableType* table)
{
    if (table->definitionModuleName.empty())
        return table->state == TableState::Sealed;
    return isFixed(table->definitionModuleName);
}

bool isDeclared(TypeId type)
{
    type = follow(type);
    if (auto* outside = get<ExternType>(type))
        return isFixed(outside->definitionModuleName);
    if (auto* primitive = get<PrimitiveType>(type))
        return primitive->type == PrimitiveType::String;
    std::vector<const TableType*> tables = tablesOf(type);
    for (const TableType* table : tables)
        if (!isDeclared(table))
            return false;
    return !tables.empty();
}

bool isAny(TypeId type)
{
    type = follow(type);
    if (auto* many = get<UnionType>(type))
        return std::any_of(begin(many), end(many), [](TypeId option) { return isAny(option); });
    return get<AnyType>(type) || get<ErrorType>(type) || get<UnknownType>(type);
}

bool mayBeNil(TypeId type)
{
    type = follow(type);
    if (isAny(type))
        return true;
    if (auto* primitive = get<PrimitiveType>(type))
        return primitive->type == PrimitiveType::NilType;
    if (auto* many = get<UnionType>(type))
        for (TypeId option : many)
            if (mayBeNil(option))
                return true;
    return false;
}

std::vector<std::string> requiredFields(const TableType* table)
{
    std::vector<std::string> names;
    for (const auto& [name, property] : table->props)
        if (property.readTy && !mayBeNil(*property.readTy) && names.size() < kMostNames)
            names.push_back(name);
    return names;
}

static void addFields(TypeId type, std::vector<std::string>& names)
{
    if (auto* outside = get<ExternType>(follow(type)))
        for (const auto& [name, property] : outside->props)
            if (names.size() < kMostNames)
                names.push_back(name);
    for (const TableType* table : tablesOf(type))
        for (const auto& [name, property] : table->props)
            if (names.size() < kMostNames)
                names.push_back(name);
}

std::vector<std::string> fieldNames(TypeId type)
{
    std::vector<std::string> names;
    addFields(type, names);
    return names;
}

TypeId fieldType(const TableType* table, const std::string& name)
{
    auto it = table->props.find(name);
    if (it != table->props.end() && it->second.readTy)
        return follow(*it->second.readTy);
    return nullptr;
}

} // namespace lc
