// A VM as the engine makes one, with one small tool loaded, in an arena with an image.
#pragma once

#include "../src/arena.h"
#include "../src/asan.h"
#include "../src/image.h"
#include "vm_walk.h"

#include "lstate.h"
#include "luacode.h"

#include <stdlib.h>

#include <map>
#include <string>

// Not a std::exception, so no pcall of a script can catch it.
struct Kill
{
};

inline const std::string& bytecode(const std::string& source)
{
    static thread_local std::map<std::string, std::string> cache;
    auto found = cache.find(source);
    if (found != cache.end())
        return found->second;
    size_t n = 0;
    char* code = luau_compile(source.data(), source.size(), nullptr, &n);
    std::string copy(code, n);
    free(code);
    return cache.emplace(source, copy).first->second;
}

class Vm
{
public:
    static constexpr const char* kTool = R"(
        local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
        local nils = table.create(300)
        local names = { "one", "two", three = { 3, nested = { true } } }
        function invoke(n) return fib(n) end
        function seen() return #names, nils[1] end
    )";

    explicit Vm(size_t limit = 64 << 20, hk::NativeCode* native = nullptr)
    {
        arena = hk::arena_create(limit);
        L = lua_newstate(hk::arena_alloc, arena);
        if (native && !hk::image_install_native_hooks(L, native))
            abort();
        luaL_openlibs(L);
        luaL_sandbox(L);
        luaL_sandboxthread(L);
    }

    ~Vm()
    {
        hk::image_free(image);
        if (L)
            lua_close(L);
        hk::arena_destroy(arena);
    }

    Vm(const Vm&) = delete;
    Vm& operator=(const Vm&) = delete;

    void save()
    {
        image = hk::image_save(L, arena);
        if (!image)
            abort();
    }

    // The arena is filled with junk first: whatever the image forgot would be junk afterwards.
    void reset(bool junk = true)
    {
        if (junk)
            scribble();
        hk::image_restore(image, arena, L);
    }

    // Only a lack of memory can make good bytecode fail to load.
    bool load(lua_State* T, const std::string& source)
    {
        const std::string& code = bytecode(source);
        return luau_load(T, "=test", code.data(), code.size(), 0) == 0;
    }

    // Runs a script to its end on the main thread: 0, or the status of the error.
    int run(const std::string& source)
    {
        return load(L, source) ? lua_pcall(L, 0, LUA_MULTRET, 0) : int(LUA_ERRMEM);
    }

    // The same on a coroutine of the host's.
    int resume(const std::string& source)
    {
        lua_State* T = lua_newthread(L);
        return load(T, source) ? lua_resume(T, nullptr, 0) : int(LUA_ERRMEM);
    }

    double invoke(double n)
    {
        lua_getglobal(L, "invoke");
        lua_pushnumber(L, n);
        lua_call(L, 1, 1);
        double result = lua_tonumber(L, -1);
        lua_pop(L, 1);
        return result;
    }

    hk::Arena* arena = nullptr;
    lua_State* L = nullptr;
    hk::Image* image = nullptr;

private:
    HK_NO_ASAN void scribble()
    {
        char *begin, *top, *touched;
        hk::arena_extent(arena, &begin, &top, &touched);
#if HK_ASAN
        for (volatile char* p = begin; p < touched; p++)
            *p = char(0xdb);
#else
        memset(begin, 0xdb, size_t(touched - begin));
#endif
    }
};
