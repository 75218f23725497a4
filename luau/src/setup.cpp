// What a script finds in a new VM: Luau's libraries without what a sandbox must not have, and
// with the calls replaced that could run long without a safe point.
#include "vm.h"

#include "marks.h"
#include "json.h"

#include "lstate.h"

#include <math.h>
#include <string.h>

namespace hk
{

void open_text_functions(lua_State* L); // text.cpp

namespace
{

// print buffers this much before the host sees it.
constexpr size_t kOutputChunk = 8192;

int print(lua_State* L)
{
    hk_vm* vm = vm_of(L);
    int n = lua_gettop(L);
    for (int i = 1; i <= n; i++)
    {
        size_t size;
        const char* s = luaL_tolstring(L, i, &size);
        vm->outputTotal += size + 1;
        if (vm->limits.output && vm->outputTotal > vm->limits.output)
        {
            flush_output(vm);
            end_run(vm, HK_KILL_OUTPUT);
        }
        if (i > 1)
            vm->output += '\t';
        if (vm->output.size() + size > kOutputChunk)
            flush_output(vm);
        if (size > kOutputChunk)
            give_output(vm, s, size); // long texts are not copied
        else
            vm->output.append(s, size);
        lua_pop(L, 1);
    }
    vm->output += '\n';
    if (vm->eachLine)
        flush_output(vm);
    return 0;
}

// Time stays in what C's calendar functions can take on every platform; beyond, they may overflow.
constexpr double kMaxTime = 253402300800.0; // year 10000

struct Stock
{
    lua_CFunction clock, date, time, assertion;
} stock;

// Luau itself answers an assert that holds, unless the code was compiled to have its checks counted.
int counted_assert(lua_State* L)
{
    vm_of(L)->checks++;
    return stock.assertion(L);
}

int os_clock(lua_State* L)
{
    vm_of(L)->impure = true;
    return stock.clock(L);
}

// A format may ask for a conversion every two bytes, each of which takes the time of a hundred.
constexpr size_t kMaxDateFormat = size_t(64) << 10;

int os_date(lua_State* L)
{
    vm_of(L)->impure = true;
    size_t size = 0;
    luaL_optlstring(L, 1, "", &size);
    if (size > kMaxDateFormat)
        luaL_argerror(L, 1, "format too long");
    if (lua_isnumber(L, 2))
    {
        double t = lua_tonumber(L, 2);
        if (!(t > -kMaxTime && t < kMaxTime))
            luaL_argerror(L, 2, "time out of range");
    }
    return stock.date(L);
}

int os_time(lua_State* L)
{
    vm_of(L)->impure = true;
    if (lua_istable(L, 1))
    {
        static const char* const fields[] = {"year", "month", "day", "hour", "min", "sec"};
        for (const char* field : fields)
        {
            lua_rawgetfield(L, 1, field);
            if (lua_isnumber(L, -1) && !(fabs(lua_tonumber(L, -1)) < 1e9))
                luaL_error(L, "field '%s' is out of range", field);
            lua_pop(L, 1);
        }
    }
    return stock.time(L);
}

lua_CFunction field_function(lua_State* L, const char* table, const char* name)
{
    lua_getglobal(L, table);
    lua_getfield(L, -1, name);
    lua_CFunction f = lua_tocfunction(L, -1);
    lua_pop(L, 2);
    return f;
}

void replace_stock(lua_State* L)
{
    replace_function(L, "os", "clock", os_clock, &stock.clock);
    replace_function(L, "os", "date", os_date, &stock.date);
    replace_function(L, "os", "time", os_time, &stock.time);
    replace_function(L, "_G", "assert", counted_assert, &stock.assertion);
    replace_function(L, "_G", "print", print, nullptr);
}

void remove_globals(lua_State* L)
{
    static const char* const gone[] = {
        "getfenv", "setfenv", "newproxy", "loadstring", "collectgarbage", "gcinfo", "require"};
    for (const char* name : gone)
    {
        lua_pushnil(L);
        lua_setglobal(L, name);
    }
}

int error_tostring(lua_State* L)
{
    if (lua_istable(L, 1))
    {
        lua_rawgetfield(L, 1, "message");
        if (lua_isstring(L, -1))
            return 1;
    }
    lua_pushstring(L, "error");
    return 1;
}

// __index of a folded table: the key in lower case.
int folded_index(lua_State* L)
{
    size_t size;
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    const char* key = lua_tolstring(L, 2, &size);
    luaL_Strbuf b;
    char* lower = luaL_buffinitsize(L, &b, size);
    for (size_t i = 0; i < size; i++)
        lower[i] = key[i] >= 'A' && key[i] <= 'Z' ? char(key[i] + 32) : key[i];
    luaL_pushresultsize(&b, size);
    lua_rawget(L, 1);
    return 1;
}

// Sets the field of the table on top.
void set_native(lua_State* L, const char* name, lua_CFunction f)
{
    lua_pushcfunction(L, f, name);
    lua_setfield(L, -2, name);
}

void open_json(lua_State* L)
{
    marks_open(L);
    json_open(L);
    lua_pushnil(L);
    while (lua_next(L, -2))
    {
        lua_pushfstring(L, "json.%s", lua_tostring(L, -2));
        lua_insert(L, -2);
        lua_rawset(L, -5); // under "json.encode" among the natives
    }
    lua_setreadonly(L, -1, true);
    lua_setfield(L, -2, "json");
    set_native(L, "json_encode", json_encode);
    set_native(L, "json_decode", json_decode);
}

void make_fixed(hk_vm* vm, lua_State* L)
{
    lua_newtable(L);
    lua_pushcfunction(L, error_tostring, "tostring");
    lua_setfield(L, -2, "__tostring");
    lua_setreadonly(L, -1, true);
    vm->fixed[kErrorMeta] = lua_ref(L, -1);
    lua_pushvalue(L, -1);
    lua_rawsetfield(L, LUA_REGISTRYINDEX, kErrorMetaName);
    lua_newtable(L);
    lua_pushcfunction(L, folded_index, "index");
    lua_setfield(L, -2, "__index");
    lua_setreadonly(L, -1, true);
    vm->fixed[kFoldedMeta] = lua_ref(L, -1);
    lua_pushcfunction(L, trace_handler, "traceback");
    vm->fixed[kTraceHandler] = lua_ref(L, -1);
    lua_newtable(L);
    open_json(L);
    vm->fixed[kNatives] = lua_ref(L, -1);
    lua_pop(L, 4);
    lua_newtable(L);
    lua_newtable(L);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    vm->fixed[kErrorIds] = lua_ref(L, -1);
    lua_pop(L, 1);
}

// The coroutine functions that pass a break on to their caller: waits find their thread by them.
void find_coroutine_functions(hk_vm* vm, lua_State* L)
{
    vm->resumeCall = field_function(L, "coroutine", "resume");
    lua_getglobal(L, "coroutine");
    lua_getfield(L, -1, "wrap");
    lua_getglobal(L, "print"); // any function: it is never resumed
    lua_call(L, 1, 1);
    vm->wrapCall = lua_tocfunction(L, -1);
    lua_pop(L, 2);
}

} // namespace

void replace_function(lua_State* L, const char* table, const char* name, lua_CFunction f, lua_CFunction* old)
{
    lua_getglobal(L, table);
    lua_getfield(L, -1, name);
    if (old)
        *old = lua_tocfunction(L, -1);
    lua_pop(L, 1);
    lua_pushcfunction(L, f, name);
    lua_setfield(L, -2, name);
    lua_pop(L, 1);
}

void open_libraries(hk_vm* vm, lua_State* L)
{
    luaL_openlibs(L);
    remove_globals(L);
    replace_stock(L);
    open_text_functions(L);
    make_fixed(vm, L);
    find_coroutine_functions(vm, L);
}

void seal_libraries(hk_vm* vm, lua_State* L)
{
    luaL_sandbox(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    vm->fixed[kSealed] = lua_ref(L, -1);
    lua_pop(L, 1);
    // The run's own globals: writable, reading through to the sealed ones.
    luaL_sandboxthread(L);
    lua_pushvalue(L, LUA_GLOBALSINDEX);
    lua_rawsetfield(L, LUA_GLOBALSINDEX, "_G");
    lua_setsafeenv(L, LUA_GLOBALSINDEX, true);
}

} // namespace hk
