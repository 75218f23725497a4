#include "definitions.h"

#include "explain.h"

#include "Luau/BuiltinDefinitions.h"

#include <malloc.h>

LUAU_FASTINT(LuauTarjanChildLimit)
LUAU_FASTINT(LuauTypeCloneIterationLimit)
LUAU_FASTINT(LuauTypeInferIterationLimit)
LUAU_FASTINT(LuauTypeLengthLimit)

using namespace Luau;

namespace lc
{

namespace
{

// Luau counts steps to end early in hopeless code. Definitions are long and not hopeless: their limits are time and
// memory.
class Patience
{
public:
    Patience()
    {
        for (Limit& limit : limits)
            limit.flag.value = kMany;
    }
    ~Patience()
    {
        for (Limit& limit : limits)
            limit.flag.value = limit.before;
    }

private:
    static constexpr int kMany = 100'000'000;
    struct Limit
    {
        FValue<int>& flag;
        int before;
    };
    Limit limits[4] = {
        {FInt::LuauTarjanChildLimit, FInt::LuauTarjanChildLimit},
        {FInt::LuauTypeCloneIterationLimit, FInt::LuauTypeCloneIterationLimit},
        {FInt::LuauTypeInferIterationLimit, FInt::LuauTypeInferIterationLimit},
        {FInt::LuauTypeLengthLimit, FInt::LuauTypeLengthLimit},
    };
};

} // namespace

// A module that was not found goes by this mark and the name that the script has for it.
constexpr char kMissing = '\x01';

std::optional<SourceCode> Sources::readSource(const ModuleName& name)
{
    auto it = texts.find(name);
    if (it == texts.end())
        return std::nullopt;
    return SourceCode{it->second, SourceCode::Module};
}

std::optional<ModuleInfo> Sources::resolveModule(const ModuleInfo* context, AstExpr* expr, const TypeCheckLimits&)
{
    auto* text = expr->as<AstExprConstantString>();
    if (!text || !context || !host)
        return std::nullopt;
    std::string wanted(text->value.data, text->value.size);
    lc_text module{}, source{};
    if (!host->resolve(
            host->context,
            {context->name.data(), context->name.size()},
            {wanted.data(), wanted.size()},
            &module,
            &source
        ))
    {
        reasons[wanted] = std::string(source.data, source.size);
        return ModuleInfo{kMissing + wanted};
    }
    std::string name(module.data, module.size);
    if (!texts.count(name))
        texts.emplace(name, std::string(source.data, source.size));
    return ModuleInfo{name};
}

std::string Sources::getHumanReadableModuleName(const ModuleName& name) const
{
    return !name.empty() && name[0] == kMissing ? name.substr(1) : name;
}

std::string Sources::reason(const std::string& name) const
{
    auto it = reasons.find(name);
    return it == reasons.end() ? "" : it->second;
}

void Sources::clear()
{
    texts.clear();
    reasons.clear();
}

// What the engine takes from every script.
static const char* const kGone[] = {"getfenv", "setfenv", "newproxy", "loadstring", "collectgarbage", "gcinfo"};

// What is otherwise than Luau's analysis says. A failed call gives an error, and not what the function returns; any value
// may be asked for its metatable.
static const char kOverride[] = R"(
declare function getmetatable(value: any): any
declare function pcall<A..., R...>(f: (A...) -> R..., ...: A...): (boolean, ...any)
declare function xpcall<E, A..., R1..., R2...>(f: (A...) -> R1..., err: (E) -> R2..., ...: A...): (boolean, ...any)
)";

static FrontendOptions options()
{
    FrontendOptions o;
    o.retainFullTypeGraphs = false;
    o.runLintChecks = false;
    return o;
}

Definitions::Definitions() : frontend(SolverMode::Old, &sources, &settings, options())
{
    registerBuiltinGlobals(frontend, frontend.globals);
    for (const char* name : kGone)
        frontend.globals.globalScope->bindings.erase(frontend.globals.globalNames.names->getOrAdd(name));
    frontend.loadDefinitionFile(frontend.globals, frontend.globals.globalScope, kOverride, "@luau", false);
    addFinally();
}

// coroutine.finally is newer than this analysis.
void Definitions::addFinally()
{
    if (TableType* coroutine = getMutable<TableType>(getGlobalBinding(frontend.globals, "coroutine")))
        coroutine->props["finally"] = makeProperty(frontend.builtinTypes->anyType);
}

Findings Definitions::load(const std::string& text)
{
    Patience patience;
    LoadDefinitionFileResult result = frontend.loadDefinitionFile(
        frontend.globals, frontend.globals.globalScope, text, "@definitions", /* captureComments */ false
    );
    Findings findings;
    auto add = [&](Location at, const std::string& message)
    {
        Finding f;
        f.kind = "definitions";
        f.location = at;
        f.text = message;
        findings.push_back(std::move(f));
    };
    if (result.success)
    {
        result = {};
        malloc_trim(0); // the definitions' own syntax and types are gone
        return findings;
    }
    for (const ParseError& error : result.parseResult.errors)
        add(error.getLocation(), error.getMessage());
    if (result.module)
        for (const TypeError& error : result.module->errors)
            add(error.location, toString(error));
    if (findings.empty())
        add(Location(), "the definitions do not load");
    return findings;
}

lc_status
Definitions::check(const std::string& module, std::string source, bool strict, double seconds, const lc_host* host)
{
    settings.config.mode = strict ? Mode::Strict : Mode::Nonstrict;
    sources.host = host;
    sources.put(module, std::move(source));
    frontend.markDirty(module);
    found.erase(module);

    FrontendOptions o = options();
    o.moduleTimeLimitSec = seconds;
    o.customModuleCheck = [&](const SourceModule& syntax, const Module& checked)
    {
        Tree tree(syntax.root);
        found[checked.name] = explain({checked, tree, *frontend.globals.globalScope});
    };
    CheckResult result = frontend.check(module, o);
    sources.host = nullptr;
    if (!result.timeoutHits.empty())
        return LC_TIMEOUT;
    report(findings(module, result), host);
    release(module);
    return LC_DONE;
}

// The script is not needed any more; modules that it required are.
void Definitions::release(const std::string& module)
{
    sources.drop(module);
    found.erase(module);
    for (auto& [name, node] : frontend.sourceNodes)
        node->dependents.erase(module);
    frontend.sourceNodes.erase(module);
    frontend.sourceModules.erase(module);
    frontend.requireTrace.erase(module);
}

Findings Definitions::findings(const std::string& module, const CheckResult& result)
{
    Findings list;
    for (const TypeError& error : result.errors)
    {
        // The rest was explained when its types were there.
        bool added = get<SyntaxError>(error) || get<ModuleHasCyclicDependency>(error);
        if (error.moduleName != module || !added)
            continue;
        Finding f;
        f.kind = get<SyntaxError>(error) ? "syntax" : "module_cycle";
        f.location = error.location;
        f.text = get<SyntaxError>(error) ? get<SyntaxError>(error)->message : toString(error);
        if (auto* cycle = get<ModuleHasCyclicDependency>(error))
            f.names.assign(cycle->cycle.begin(), cycle->cycle.end());
        list.push_back(std::move(f));
    }
    for (Finding& f : found[module])
    {
        if (f.kind == "unknown_module")
            f.text = sources.reason(f.name);
        list.push_back(f);
    }
    return list;
}

void Definitions::forget()
{
    frontend.clear();
    sources.clear();
    found.clear();
}

} // namespace lc
