// Questions about types that findings ask.
#pragma once

#include "Luau/Type.h"

#include <string>
#include <vector>

namespace lc
{

// A type in one line, cut where it is long.
std::string printed(Luau::TypeId type);

// The table that a value of this type is, without nil; nullptr: not one table.
const Luau::TableType* tableOf(Luau::TypeId type);
// Every table among the options of a type.
std::vector<const Luau::TableType*> tablesOf(Luau::TypeId type);

// Whether definitions or Luau's library declare the table.
bool isDeclared(const Luau::TableType* table);
bool isDeclared(Luau::TypeId type);

// Names of fields, those that must be there alone or all.
std::vector<std::string> requiredFields(const Luau::TableType* table);
std::vector<std::string> fieldNames(Luau::TypeId type);

bool mayBeNil(Luau::TypeId type);
bool isAny(Luau::TypeId type);
// The type of a table's field; nullptr: there is none.
Luau::TypeId fieldType(const Luau::TableType* table, const std::string& name);

} // namespace lc
