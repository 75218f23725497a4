// What the pieces cost that a host cannot do without: a call, a yield, a VM.
#include "bare.h"

#include <stdio.h>
#include <unistd.h>

#include <memory>
#include <vector>

namespace bare
{

namespace
{

int add_one(lua_State* L)
{
    lua_pushnumber(L, luaL_checknumber(L, 1) + 1);
    return 1;
}

int wait_for_host(lua_State* L)
{
    return lua_yield(L, 0);
}

// A script with the function `host` that calls it n times.
Script& looping(lua_CFunction host)
{
    static std::unique_ptr<Script> script;
    script = std::make_unique<Script>(false);
    lua_pushcfunction(script->L, host, "host");
    lua_setglobal(script->L, "host");
    script->load("=loop", "return function(n) local host = host for i = 1, n do host(i) end end", false);
    return *script;
}

size_t resident()
{
    size_t total = 0, pages = 0;
    FILE* f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%zu %zu", &total, &pages) != 2)
        fail("cannot read /proc/self/statm");
    fclose(f);
    return pages * size_t(sysconf(_SC_PAGESIZE));
}

} // namespace

double callback(double least)
{
    lua_State* L = looping(add_one).L;
    auto run = [&](size_t n)
    {
        lua_pushvalue(L, -1);
        lua_pushnumber(L, double(n));
        if (lua_pcall(L, 1, 0, 0) != 0)
            fail(lua_tostring(L, -1));
    };
    return each(least, run);
}

double yield_and_resume(double least)
{
    lua_State* L = looping(wait_for_host).L;
    auto run = [&](size_t n)
    {
        lua_State* co = lua_newthread(L);
        lua_pushvalue(L, -2);
        lua_xmove(L, co, 1);
        lua_pushnumber(co, double(n));
        int status = lua_resume(co, L, 1);
        while (status == LUA_YIELD)
        {
            lua_pushnumber(co, 1);
            status = lua_resume(co, L, 1);
        }
        if (status != LUA_OK)
            fail(lua_tostring(co, -1));
        lua_pop(L, 1);
    };
    return each(least, run);
}

double new_vm(double least)
{
    auto run = [](size_t n)
    {
        for (size_t i = 0; i < n; i++)
            Script script(false);
    };
    return each(least, run);
}

double new_vm_and_call(double least)
{
    std::string code = compile("return function(a) return { sum = a.x + a.y } end", false);
    auto run = [&](size_t n)
    {
        for (size_t i = 0; i < n; i++)
        {
            Script script(false);
            lua_State* L = script.L;
            if (luau_load(L, "=tool", code.data(), code.size(), 0) != 0 || lua_pcall(L, 0, 1, 0) != 0)
                fail(lua_tostring(L, -1));
            lua_createtable(L, 0, 2);
            lua_pushnumber(L, 1);
            lua_setfield(L, -2, "x");
            lua_pushnumber(L, 2);
            lua_setfield(L, -2, "y");
            if (lua_pcall(L, 1, 1, 0) != 0)
                fail(lua_tostring(L, -1));
            lua_getfield(L, -1, "sum");
            if (lua_tonumber(L, -1) != 3)
                fail("the tool gave a wrong sum");
        }
    };
    return each(least, run);
}

double idle_vm()
{
    constexpr size_t kCount = 500;
    std::vector<std::unique_ptr<Script>> vms;
    size_t before = resident();
    for (size_t i = 0; i < kCount; i++)
        vms.push_back(std::make_unique<Script>(false));
    return double(resident() - before) / kCount;
}

} // namespace bare
