#include "tree.h"

using namespace Luau;

namespace lc
{

struct Collector : AstVisitor
{
    Tree& tree;
    const AstExprFunction* inside = nullptr;

    explicit Collector(Tree& tree) : tree(tree) {}

    bool visit(AstExpr* expr) override
    {
        tree.exprs.emplace(Tree::place(expr->location), expr);
        return true;
    }

    bool visit(AstExprCall* call) override
    {
        visit(static_cast<AstExpr*>(call));
        tree.calls.emplace(Tree::place(call->location), call);
        tree.callees.emplace(Tree::place(call->func->location), call);
        for (AstExpr* arg : call->args)
            tree.arguments.emplace(Tree::place(arg->location), call);
        return true;
    }

    bool visit(AstExprTable* table) override
    {
        visit(static_cast<AstExpr*>(table));
        tree.literals.push_back(table);
        for (const AstExprTable::Item& item : table->items)
        {
            auto* name = item.key ? item.key->as<AstExprConstantString>() : nullptr;
            if (name || item.kind == AstExprTable::Item::List)
                tree.items.emplace(
                    Tree::place(item.value->location),
                    Tree::Item{table, name ? std::string(name->value.data, name->value.size) : ""}
                );
        }
        return true;
    }

    bool visit(AstExprIndexExpr* index) override
    {
        visit(static_cast<AstExpr*>(index));
        tree.keys.push_back(index);
        return true;
    }

    bool visit(AstExprFunction* function) override
    {
        visit(static_cast<AstExpr*>(function));
        for (AstLocal* arg : function->args)
            add(arg);
        tree.ends[Tree::place(function->location.end)] = function;
        const AstExprFunction* outside = inside;
        inside = function;
        function->body->visit(this);
        inside = outside;
        return false;
    }

    bool visit(AstStatReturn* stat) override
    {
        if (stat->list.size == 1)
            tree.given.emplace(Tree::place(stat->location), stat->list.data[0]);
        if (!inside || !inside->returnAnnotation)
            tree.freeReturns.insert(Tree::place(stat->location));
        return true;
    }

    bool visit(AstStatLocal* stat) override
    {
        for (AstLocal* var : stat->vars)
            add(var);
        if (stat->values.size == 1)
            tree.given.emplace(Tree::place(stat->location), stat->values.data[0]);
        return true;
    }

    bool visit(AstStatForIn* stat) override
    {
        for (AstExpr* value : stat->values)
            tree.iterated.insert(Tree::place(value->location));
        for (AstLocal* var : stat->vars)
            add(var);
        return true;
    }

    bool visit(AstStatLocalFunction* stat) override
    {
        add(stat->name);
        return true;
    }

    bool visit(AstStatAssign* stat) override
    {
        for (AstExpr* var : stat->vars)
        {
            tree.targets.insert(Tree::place(var->location));
            if (auto* global = var->as<AstExprGlobal>())
                tree.assigned.insert(global->name.value);
            if (auto* field = var->as<AstExprIndexName>())
                tree.assignedFields.insert(field->index.value);
        }
        return true;
    }

    bool visit(AstStatFunction* stat) override
    {
        tree.targets.insert(Tree::place(stat->name->location));
        if (auto* global = stat->name->as<AstExprGlobal>())
            tree.assigned.insert(global->name.value);
        return true;
    }

    void add(AstLocal* local)
    {
        tree.names.insert(local->name.value);
    }
};

Tree::Tree(AstStatBlock* root)
{
    Collector collector{*this};
    root->visit(&collector);
}

unsigned long long Tree::place(Position at)
{
    return (unsigned long long)at.line << 32 | at.column;
}

Tree::Place Tree::place(Location at)
{
    return {place(at.begin), place(at.end)};
}

template<typename Map>
static auto lookup(const Map& map, const typename Map::key_type& key) -> typename Map::mapped_type
{
    auto it = map.find(key);
    return it == map.end() ? nullptr : it->second;
}

const AstExprCall* Tree::calleeAt(Location at) const
{
    return lookup(callees, place(at));
}
const AstExprCall* Tree::argumentAt(Location at) const
{
    return lookup(arguments, place(at));
}
const AstExprCall* Tree::callAt(Location at) const
{
    return lookup(calls, place(at));
}
const AstExpr* Tree::exprAt(Location at) const
{
    return lookup(exprs, place(at));
}

const AstExpr* Tree::givenAt(Location at) const
{
    return lookup(given, place(at));
}

const AstExprTable* Tree::literalAround(Location at) const
{
    auto it = items.find(place(at));
    return it == items.end() ? nullptr : it->second.table;
}

const AstExprFunction* Tree::functionBefore(Position end) const
{
    return lookup(ends, place(end));
}

const AstExprCall* Tree::inArguments(Location at, std::string& field) const
{
    std::vector<const std::string*> keys;
    const AstExprCall* call = argumentAt(at);
    for (auto it = items.find(place(at)); !call && it != items.end();
         it = items.find(place(it->second.table->location)))
    {
        keys.push_back(&it->second.key);
        call = argumentAt(it->second.table->location);
    }
    std::string path;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key)
        extendField(path, **key);
    if (call)
        field = path;
    return call;
}

void extendField(std::string& path, const std::string& name)
{
    if (name.empty())
        path += "[]";
    else
        path += path.empty() ? name : "." + name;
}

// Names longer than this are cut: the text goes into a message.
constexpr size_t kLongest = 100;

static bool extend(const AstExpr* expr, std::string& text)
{
    if (text.size() > kLongest)
        return false;
    if (auto* global = expr->as<AstExprGlobal>())
        text = global->name.value;
    else if (auto* local = expr->as<AstExprLocal>())
        text = local->local->name.value;
    else if (auto* group = expr->as<AstExprGroup>())
        return extend(group->expr, text);
    else if (auto* call = expr->as<AstExprCall>())
    {
        if (!extend(call->func, text))
            return false;
        text += "(...)";
    }
    else if (auto* index = expr->as<AstExprIndexName>())
    {
        if (!extend(index->expr, text))
            return false;
        text += index->op;
        text += index->index.value;
    }
    else if (auto* index = expr->as<AstExprIndexExpr>())
    {
        auto* key = index->index->as<AstExprConstantString>();
        if (!key || !extend(index->expr, text))
            return false;
        text += "[\"" + std::string(key->value.data, key->value.size) + "\"]";
    }
    else
        return false;
    return true;
}

std::string chain(const AstExpr* expr)
{
    std::string text;
    if (!expr || !extend(expr, text))
        return "";
    return text;
}

} // namespace lc
