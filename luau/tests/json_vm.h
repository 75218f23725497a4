// A VM for the JSON tests, with what the VM's owner supplies: flags, scratch, accounting, a kill.
#pragma once

#include "charge.h"
#include "json.h"
#include "marks.h"

#include "lua.h"
#include "luacode.h"
#include "lualib.h"

#include "Luau/Common.h"

#include <atomic>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <string>

// What a kill is made of: not a std::exception, so that no pcall catches it.
struct KillForTest
{
};

class JsonVm
{
public:
    size_t heap_limit = SIZE_MAX;
    size_t charge_limit = SIZE_MAX;
    size_t heap = 0;
    size_t charged = 0;
    size_t charged_peak = 0;
    long polls = 0;
    long polls_until_kill = -1;
    JsonScratch* scratch = nullptr;
    lua_State* L = nullptr;

    JsonVm()
    {
        set_flags();
        scratch = hk::json_scratch_new();
        L = lua_newstate(allocate, this);
        lua_callbacks(L)->userdata = this;
        luaL_openlibs(L);
        hk::marks_open(L);
        hk::json_open(L);
        lua_setglobal(L, "json");
        luaL_sandbox(L);
    }
    ~JsonVm()
    {
        lua_close(L);
        hk::json_scratch_free(scratch);
    }
    JsonVm(const JsonVm&) = delete;
    JsonVm& operator=(const JsonVm&) = delete;

    static JsonVm& of(lua_State* L)
    {
        return *static_cast<JsonVm*>(lua_callbacks(L)->userdata);
    }

    // The script's results as text, each by tostring and joined by ", "; or "error: " and the message.
    std::string run(const std::string& source)
    {
        lua_State* T = lua_newthread(L);
        luaL_sandboxthread(T);
        std::string text = run_in(T, source);
        lua_pop(L, 1);
        return text;
    }

    // Like run, with a global `text`: for bytes that a source cannot hold.
    std::string run_with(const std::string& text, const std::string& source)
    {
        lua_State* T = lua_newthread(L);
        luaL_sandboxthread(T);
        lua_pushlstring(T, text.data(), text.size());
        lua_setglobal(T, "text");
        std::string result = run_in(T, source);
        lua_pop(L, 1);
        return result;
    }

private:
    static void set_flags()
    {
        for (auto* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
            if (strncmp(flag->name, "Luau", 4) == 0 && !strstr(flag->name, "Experimental"))
                flag->value = true;
    }

    static void* allocate(void* context, void* block, size_t old_size, size_t new_size)
    {
        auto vm = static_cast<JsonVm*>(context);
        if (new_size == 0)
        {
            vm->heap -= old_size;
            free(block);
            return nullptr;
        }
        if (new_size > old_size && vm->heap - old_size + new_size > vm->heap_limit)
            return nullptr;
        void* moved = realloc(block, new_size);
        if (moved)
            vm->heap = vm->heap - old_size + new_size;
        return moved;
    }

    std::string run_in(lua_State* T, const std::string& source)
    {
        size_t size = 0;
        char* code = luau_compile(source.data(), source.size(), nullptr, &size);
        int failed = luau_load(T, "=test", code, size, 0);
        free(code);
        if (failed || lua_resume(T, nullptr, 0) != LUA_OK)
        {
            if (lua_istable(T, -1))
                lua_rawgetfield(T, -1, "message");
            return std::string("error: ") + (lua_tostring(T, -1) ? lua_tostring(T, -1) : "?");
        }
        std::string text;
        for (int i = 1, n = lua_gettop(T); i <= n; i++)
        {
            size_t length;
            const char* shown = luaL_tolstring(T, i, &length);
            text += (i > 1 ? ", " : "") + std::string(shown, length);
            lua_pop(T, 1);
        }
        return text;
    }
};

namespace hk
{

JsonScratch* json_scratch(lua_State* L)
{
    return JsonVm::of(L).scratch;
}

bool charge(lua_State* L, size_t bytes)
{
    JsonVm& vm = JsonVm::of(L);
    if (bytes > vm.charge_limit - vm.charged)
        return false;
    vm.charged += bytes;
    vm.charged_peak = vm.charged > vm.charged_peak ? vm.charged : vm.charged_peak;
    return true;
}

void uncharge(lua_State* L, size_t bytes)
{
    JsonVm::of(L).charged -= bytes;
}

void poll(lua_State* L)
{
    JsonVm& vm = JsonVm::of(L);
    vm.polls++;
    if (vm.polls_until_kill >= 0 && vm.polls_until_kill-- == 0)
        throw KillForTest();
}

} // namespace hk
