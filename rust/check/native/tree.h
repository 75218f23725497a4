// What of a script's syntax tree the findings need: which expression stands where, what is called, what is assigned.
#pragma once

#include "Luau/Ast.h"
#include "Luau/DenseHash.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace lc
{

class Tree
{
public:
    explicit Tree(Luau::AstStatBlock* root);

    // The call whose callee, or one of whose arguments, or which itself, stands at this place; nullptr: none.
    const Luau::AstExprCall* calleeAt(Luau::Location at) const;
    const Luau::AstExprCall* argumentAt(Luau::Location at) const;
    const Luau::AstExprCall* callAt(Luau::Location at) const;
    const Luau::AstExpr* exprAt(Luau::Location at) const;

    // Whether a return statement stands at this place, of the script itself or of a function that does not say what it
    // returns.
    bool isFreeReturn(Luau::Location at) const
    {
        return freeReturns.count(place(at)) != 0;
    }
    // Whether a for loop goes over the expression at this place.
    bool isIterated(Luau::Location at) const
    {
        return iterated.count(place(at)) != 0;
    }
    // What is given in the statement at this place, where that is one value; nullptr: it is not.
    const Luau::AstExpr* givenAt(Luau::Location at) const;
    // The literal that has the value at this place in it; nullptr: none.
    const Luau::AstExprTable* literalAround(Luau::Location at) const;
    // The function that ends there.
    const Luau::AstExprFunction* functionBefore(Luau::Position end) const;
    // Whether something is assigned to the expression at this place.
    bool isTarget(Luau::Location at) const
    {
        return targets.count(place(at)) != 0;
    }
    bool assigns(const std::string& global) const
    {
        return assigned.count(global) != 0;
    }
    bool assignsField(const std::string& name) const
    {
        return assignedFields.count(name) != 0;
    }

    // The call that has the value at this place in its arguments, and by which fields: "filter.labels[]".
    const Luau::AstExprCall* inArguments(Luau::Location at, std::string& field) const;

    std::vector<const Luau::AstExprTable*> literals;
    std::vector<const Luau::AstExprIndexExpr*> keys;
    std::set<std::string> names; // of all locals

private:
    friend struct Collector;
    using Place = std::pair<unsigned long long, unsigned long long>;
    static unsigned long long place(Luau::Position at);
    static Place place(Luau::Location at);

    std::map<Place, const Luau::AstExpr*> exprs, given;
    std::map<Place, const Luau::AstExprCall*> callees, arguments, calls;
    struct Item
    {
        const Luau::AstExprTable* table;
        std::string key; // "" of an item of a list
    };
    std::map<Place, Item> items; // by the place of the value
    std::set<Place> freeReturns, targets, iterated;
    std::map<unsigned long long, const Luau::AstExprFunction*> ends;
    std::set<std::string> assigned, assignedFields;
};

// The path of a field in another one; "" is an item of a list.
void extendField(std::string& path, const std::string& name);

// "sdk.files.read" of an expression that is a chain of names, "sdk.files.read(...)" of a call; "" of another.
std::string chain(const Luau::AstExpr* expr);

} // namespace lc
