// What decodes must encode, and the text must then stay as it is. Build with -fsanitize=fuzzer,address,undefined.
#include "json_fault.h"
#include "json_vm.h"

#include <stdio.h>

namespace
{

// Replaces the top of the stack by function(it); false: it raised.
bool call(lua_State* L, lua_CFunction function)
{
    lua_pushcfunction(L, function, "json");
    lua_insert(L, -2);
    return lua_pcall(L, 1, 1, 0) == LUA_OK;
}

[[noreturn]] void fail(lua_State* L, const char* what)
{
    fprintf(stderr, "%s: %s\n", what, luaL_tolstring(L, -1, nullptr));
    abort();
}

// The slow scanner's second opinion: it finds a reason in what was refused, and none in what was accepted.
void check_accepted(lua_State* L, const uint8_t* data, size_t size)
{
    size_t skipped = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    std::string text(reinterpret_cast<const char*>(data) + skipped, size - skipped);
    hk::Fault fault;
    if (!hk::find_fault(reinterpret_cast<const uint8_t*>(text.c_str()), text.size(), hk::kJsonMaxDepth, fault))
        return;
    lua_pushstring(L, fault.what);
    fail(L, "accepted with a fault");
}

void check_error(lua_State* L)
{
    const char* message = lua_tostring(L, -1);
    if (!message || !strstr(message, " at byte ") || strstr(message, "invalid JSON"))
        fail(L, "refused without a reason");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static JsonVm vm;
    lua_State* L = vm.L;
    lua_settop(L, 0);
    lua_pushlstring(L, reinterpret_cast<const char*>(data), size);
    if (!call(L, hk::json_decode))
    {
        check_error(L);
        return 0;
    }
    check_accepted(L, data, size);
    if (!call(L, hk::json_encode))
        fail(L, "decoded but does not encode");
    lua_pushvalue(L, -1);
    if (!call(L, hk::json_decode) || !call(L, hk::json_encode))
        fail(L, "own text does not decode");
    if (!lua_rawequal(L, -1, -2))
        fail(L, "text changed");
    if (vm.charged != 0)
        fail(L, "memory is still charged");
    lua_settop(L, 0);
    lua_gc(L, LUA_GCSTEP, 8);
    return 0;
}
