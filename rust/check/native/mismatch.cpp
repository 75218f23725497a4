#include "mismatch.h"

#include "tree.h"
#include "types.h"

#include <algorithm>
#include <string.h>

using namespace Luau;

namespace lc
{

static bool isText(TypeId type)
{
    auto* primitive = get<PrimitiveType>(type);
    return primitive && primitive->type == PrimitiveType::String;
}

// Types may have many ways through them: after so many questions there is no answer.
constexpr int kMostSteps = 2000;

static bool covers(TypeId wanted, TypeId given, int& steps);

static bool coversTable(const TableType* wanted, const TableType* given, int& steps)
{
    for (const auto& [name, property] : wanted->props)
    {
        TypeId type = fieldType(wanted, name), other = fieldType(given, name);
        if (!type || (other ? !covers(type, other, steps) : !mayBeNil(type)))
            return false;
    }
    if (given->indexer && wanted->indexer)
        return covers(wanted->indexer->indexType, given->indexer->indexType, steps) &&
               covers(wanted->indexer->indexResultType, given->indexer->indexResultType, steps);
    return !given->indexer;
}

bool covers(TypeId wanted, TypeId given)
{
    int steps = 0;
    return covers(wanted, given, steps);
}

static bool covers(TypeId wanted, TypeId given, int& steps)
{
    if (++steps > kMostSteps)
        return false;
    wanted = follow(wanted), given = follow(given);
    if (wanted == given || isAny(wanted) || isAny(given))
        return true;
    if (auto* many = get<UnionType>(given))
        return std::all_of(begin(many), end(many), [&](TypeId option) { return covers(wanted, option, steps); });
    if (auto* many = get<UnionType>(wanted))
        return std::any_of(begin(many), end(many), [&](TypeId option) { return covers(option, given, steps); });
    if (auto* table = get<TableType>(wanted))
        return get<TableType>(given) && coversTable(table, get<TableType>(given), steps);
    auto* one = get<PrimitiveType>(wanted);
    if (auto* other = get<PrimitiveType>(given))
        return one ? one->type == other->type
                   : isText(given) && get<SingletonType>(wanted) && get<StringSingleton>(get<SingletonType>(wanted));
    auto* singleton = get<SingletonType>(given);
    auto* wantedSingleton = get<SingletonType>(wanted);
    if (!singleton)
        return false;
    if (wantedSingleton)
        return *singleton == *wantedSingleton;
    return one && one->type == (get<StringSingleton>(singleton) ? PrimitiveType::String : PrimitiveType::Boolean);
}

// "Property 'x' is not compatible." says where in a table an inner mismatch is.
static std::string propertyOf(const std::string& reason)
{
    static const char head[] = "Property '";
    size_t end = reason.find("' is not compatible");
    if (reason.compare(0, sizeof(head) - 1, head) != 0 || end == std::string::npos)
        return "";
    return reason.substr(sizeof(head) - 1, end - (sizeof(head) - 1));
}

// Among several wanted tables, those that a mismatch may be explained by: one alone. Else the reader is told the whole
// type.
static bool explainable(const TypeMismatch& e)
{
    return !e.reason.compare(0, 10, "Property '") || (e.error && tableOf(e.wantedType) && tableOf(e.givenType));
}

void explainMissing(const MissingProperties& e, Finding& f)
{
    f.names.assign(e.properties.begin(), e.properties.end());
    f.wanted = printed(e.superType);
    f.given = printed(e.subType);
    f.declared = isDeclared(e.superType);
    if (e.context == MissingProperties::Missing)
    {
        f.kind = "missing_field";
        return;
    }
    f.kind = "extra_field";
}

void explainMismatch(const TypeMismatch& mismatch, Finding& f)
{
    const TypeMismatch* e = &mismatch;
    for (int depth = 0; depth < 100; depth++)
    {
        f.kind = "type_mismatch";
        f.wanted = printed(e->wantedType);
        f.given = printed(e->givenType);
        f.declared = isDeclared(e->wantedType);
        if (!e->error || !explainable(*e))
            break;
        std::string property = propertyOf(e->reason);
        if (!property.empty() && property[0] != '[')
            extendField(f.field, property);
        else if (property == "[indexer value]")
            extendField(f.field, "");
        if (auto* missing = get<MissingProperties>(*e->error))
            return explainMissing(*missing, f);
        auto* inner = get<TypeMismatch>(*e->error);
        if (!inner)
            break;
        e = inner;
    }
    if (covers(e->wantedType, e->givenType))
        f.kind = ""; // Luau wants fields to be of exactly the type, since they could be assigned
    else if (const TableType* table = tableOf(e->wantedType); table && !tableOf(e->givenType))
        f.names = requiredFields(table);
    else if (mayBeNil(e->givenType) && !isAny(e->givenType) && !mayBeNil(e->wantedType))
        f.kind = "maybe_nil";
}

} // namespace lc
