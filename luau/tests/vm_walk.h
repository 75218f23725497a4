// What a script can see of a VM, as text: two VMs with the same text are the same to it.
#pragma once

#include "lua.h"
#include "lualib.h"

#include "lapi.h"
#include "lgc.h"
#include "lobject.h"
#include "lstate.h"

#include "Luau/Common.h"

#include <string.h>

#include <string>
#include <unordered_map>

// As the official command line does, from before the first VM on.
inline void set_luau_flags()
{
    for (Luau::FValue<bool>* flag = Luau::FValue<bool>::list; flag; flag = flag->next)
        if (strncmp(flag->name, "Luau", 4) == 0 && !strstr(flag->name, "Experimental"))
            flag->value = true;
}

class VmWalk
{
public:
    explicit VmWalk(lua_State* L) : L(L) {}

    // Order of iteration is part of what is seen, so it is part of the text. Addresses are not:
    // objects are numbered as they are met.
    std::string text()
    {
        const global_State* g = L->global;
        add("bytes ", g->totalbytes, " threshold ", g->GCthreshold, " gcstate ", int(g->gcstate));
        add(" top ", L->top - L->base, " stack ", L->stacksize, " calls ", L->nCcalls, " status ", int(L->status), "\n"
        );
        for (int i = 0; i < LUA_MEMORY_CATEGORIES; i++)
            if (g->memcatbytes[i])
                add("memcat ", i, " ", g->memcatbytes[i], "\n");
        lua_pushvalue(L, LUA_GLOBALSINDEX);
        root("globals");
        lua_pushvalue(L, LUA_REGISTRYINDEX);
        root("registry");
        for (int type = 0; type < LUA_T_COUNT; type++)
            if (LuaTable* mt = g->mt[type])
            {
                lua_rawcheckstack(L, 1);
                sethvalue(L, L->top, mt);
                L->top++;
                root(lua_typename(L, type));
            }
        return out;
    }

private:
    lua_State* L;
    std::string out;
    std::unordered_map<const void*, int> seen;

    template<typename... T>
    void add(const T&... parts)
    {
        (append(parts), ...);
    }

    void append(const char* s)
    {
        out += s;
    }

    template<typename T>
    void append(T n)
    {
        out += std::to_string(n);
    }

    void root(const char* name)
    {
        add(name, " = ");
        value();
        add("\n");
    }

    // Describes and pops the top of the stack.
    void value()
    {
        lua_rawcheckstack(L, 8);
        int type = lua_type(L, -1);
        add(lua_typename(L, type), " ");
        const void* p = type >= LUA_TSTRING ? lua_topointer(L, -1) : nullptr;
        if (type == LUA_TSTRING)
            string();
        else if (p && !first_time(p))
            ;
        else if (type == LUA_TTABLE)
            table();
        else if (type == LUA_TFUNCTION)
            function();
        else if (type == LUA_TTHREAD)
            add("status ", lua_status(lua_tothread(L, -1)));
        else if (type == LUA_TBOOLEAN)
            add(lua_toboolean(L, -1));
        else if (type == LUA_TNUMBER)
            number();
        lua_pop(L, 1);
    }

    bool first_time(const void* p)
    {
        auto [at, added] = seen.emplace(p, int(seen.size()));
        add("#", at->second, " ");
        return added;
    }

    void string()
    {
        size_t n;
        const char* s = lua_tolstring(L, -1, &n);
        out.append(s, n);
    }

    void number()
    {
        char text[64];
        snprintf(text, sizeof(text), "%a", lua_tonumber(L, -1));
        add(text);
    }

    void table()
    {
        const LuaTable* t = hvalue(luaA_toobject(L, -1));
        add("readonly ",
            int(t->readonly),
            " safeenv ",
            int(t->safeenv),
            " array ",
            t->sizearray,
            " nodes ",
            int(t->lsizenode),
            " {\n");
        if (lua_getmetatable(L, -1))
        {
            add("metatable ");
            value();
        }
        for (int i = 0; (i = lua_rawiter(L, -1, i)) >= 0;)
        {
            lua_pushvalue(L, -2);
            value();
            add(" : ");
            value();
            lua_pop(L, 1);
            add("\n");
        }
        add("}");
    }

    void function()
    {
        lua_Debug ar = {};
        lua_pushvalue(L, -1);
        lua_getinfo(L, -1, "sn", &ar);
        lua_pop(L, 1);
        add(ar.what, " ", ar.name ? ar.name : "?", " ", ar.short_src, " ", ar.linedefined, " ");
        if (lua_iscfunction(L, -1))
            add(uintptr_t(lua_tocfunction(L, -1)));
        lua_getfenv(L, -1);
        add(" env ");
        value();
        for (int i = 1; lua_getupvalue(L, -1, i); i++)
        {
            add(" up ");
            value();
        }
    }
};

inline std::string vm_walk(lua_State* L)
{
    return VmWalk(L).text();
}
