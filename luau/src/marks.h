// What a Luau value can be beyond Luau's own types: an array (even an empty one), a null, an exact number.
#pragma once

#include "lua.h"

#include <stddef.h>

struct LuaTable;
struct TString;

namespace hk
{

// A table's memory category carries its mark: no side table, no metatable, no cost for the others.
// A copy (table.clone) has category 0 and so loses the mark.
enum TableCategory
{
    kArrayCategory = 1,  // encodes as [ ] also when empty
    kNulledCategory = 2, // some keys of it were null: the registry knows which
    kCategories          // those from here on hold nothing
};

enum LightTag
{
    kNullTag = 1,
};

enum UserdataTag
{
    kExactTag = 2,
};

// Names, metatables. Once for each VM, before any script runs.
void marks_open(lua_State* L);

bool is_array(lua_State* L, int idx);
void new_array(lua_State* L, int narr); // pushes
void mark_array(lua_State* L, int idx);

void push_null(lua_State* L);
bool is_null(lua_State* L, int idx);

// An absent key of an object that stands for null. Keys are strings. A value assigned to the key wins over the mark.
void mark_null_key(lua_State* L, int table_idx, int key_idx);
bool omit_null_key(lua_State* L, int table_idx, int key_idx); // true if there was a mark
bool is_null_key(lua_State* L, int table_idx, int key_idx);   // marked, and without a value now

// Integers beyond 64 bits, kept as their decimal digits.
void push_exact(lua_State* L, const char* digits, size_t size);
const char* to_exact(lua_State* L, int idx, size_t* size); // nullptr: not an exact number

// The same on Luau's own objects, for the codecs. They allocate but never start a collection.
LuaTable* new_marked_table(lua_State* L, int narray, int nhash, int category);
void set_null_keys(lua_State* L, LuaTable* t, TString* const* keys, size_t count);

// Calls fn for each key of t that is marked, whether it has a value or not.
void each_null_key(lua_State* L, LuaTable* t, void (*fn)(void* context, TString* key), void* context);

} // namespace hk
