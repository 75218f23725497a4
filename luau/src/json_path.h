// Where in a value an error is: $.users[3].name
#pragma once

#include "lua.h"

#include <stddef.h>
#include <string>

struct LuaTable;
struct TString;

namespace hk
{

struct Step
{
    const LuaTable* table; // which is open
    const TString* key;    // nullptr: an array element
    int index;             // from 1
};

// At most about 200 bytes: the middle of a long path is left out.
std::string path_text(const Step* steps, size_t count);

} // namespace hk
