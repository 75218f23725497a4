// Errors that a script catches as tables.
#pragma once

#include "lua.h"

#include <stddef.h>

namespace hk
{

// Registry field of the metatable of such errors: they print as their message.
constexpr const char* kErrorMetaName = "hk.error";

// Raises a table {code, message}. Codes are stable; most are listed in go/pkg/luau/error.go.
[[noreturn]] void raise(lua_State* L, const char* code, const char* fmt, ...) __attribute__((format(printf, 3, 4)));
void push_error_value(lua_State* L, const char* code, const char* message, size_t size);

} // namespace hk
