// The scripts of bench/scripts, interpreted and native.
#include "bare.h"

#include "Luau/CodeGen.h"
#include "Luau/Compiler.h"

#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace bare
{

Script::Script(bool native) : L(luaL_newstate())
{
    if (native)
        Luau::CodeGen::create(L);
    luaL_openlibs(L);
    luaL_sandbox(L);
    luaL_sandboxthread(L);
}

Script::~Script()
{
    lua_close(L);
}

// The levels are the ones that Hukilau uses: -O1, and -O2 with types for native code.
std::string compile(const std::string& source, bool native)
{
    Luau::CompileOptions options;
    options.optimizationLevel = native ? 2 : 1;
    options.debugLevel = 2;
    options.typeInfoLevel = native ? 1 : 0;
    return Luau::compile(source, options);
}

void Script::load(const std::string& chunk, const std::string& source, bool native)
{
    std::string code = compile(source, native);
    if (luau_load(L, chunk.c_str(), code.data(), code.size(), 0) != 0)
        fail(lua_tostring(L, -1));
    if (native)
        Luau::CodeGen::compile(L, -1, Luau::CodeGen::CodeGen_ColdFunctions);
    if (lua_pcall(L, 0, 1, 0) != 0)
        fail(lua_tostring(L, -1));
}

double run_script(const std::string& mode, const std::string& path, double least)
{
    static std::map<std::string, std::unique_ptr<Script>> loaded;
    bool native = mode == "native";
    std::unique_ptr<Script>& script = loaded[mode + path];
    if (!script)
    {
        std::ifstream file(path);
        std::stringstream text;
        text << file.rdbuf();
        if (!file)
            fail("cannot read " + path);
        script = std::make_unique<Script>(native);
        script->load("@" + path, text.str(), native);
    }
    lua_State* L = script->L;
    auto run = [&](size_t n)
    {
        for (size_t i = 0; i < n; i++)
        {
            lua_pushvalue(L, -1);
            if (lua_pcall(L, 0, 0, 0) != 0)
                fail(lua_tostring(L, -1));
        }
    };
    return each(least, run);
}

} // namespace bare
