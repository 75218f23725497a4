// JSON straight between text and Luau values.
#pragma once

#include "lua.h"

// Host memory that the codecs keep for one VM. Its owner makes it, hands it out by json_scratch and frees it last.
struct JsonScratch;

namespace hk
{

JsonScratch* json_scratch(lua_State* L);
JsonScratch* json_scratch_new(); // nullptr: no memory
void json_scratch_free(JsonScratch* scratch);

const int kJsonMaxDepth = 200;

// Pushes the table of JSON functions. marks_open comes first.
void json_open(lua_State* L);

// (text: string | buffer) -> any. Errors begin with the name the closure was made with, as do those of json_encode.
int json_decode(lua_State* L);
// (value: any) -> string
int json_encode(lua_State* L);

} // namespace hk
