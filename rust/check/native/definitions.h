// A set of definitions, loaded once, and the checks against it.
#pragma once

#include "finding.h"

#include "Luau/ConfigResolver.h"
#include "Luau/FileResolver.h"
#include "Luau/Frontend.h"

#include <string>
#include <unordered_map>

namespace lc
{

// Sources come from the host: the script that is checked, and by question the modules that it requires.
class Sources : public Luau::FileResolver
{
public:
    const lc_host* host = nullptr;

    std::optional<Luau::SourceCode> readSource(const Luau::ModuleName& name) override;
    std::optional<Luau::ModuleInfo>
    resolveModule(const Luau::ModuleInfo* context, Luau::AstExpr* expr, const Luau::TypeCheckLimits& limits) override;
    std::string getHumanReadableModuleName(const Luau::ModuleName& name) const override;

    void put(const std::string& name, std::string source)
    {
        texts[name] = std::move(source);
    }
    void drop(const std::string& name)
    {
        texts.erase(name);
    }
    void clear();
    // Why the module that a script calls `name` was not found; "" where it was not asked for.
    std::string reason(const std::string& name) const;

private:
    std::unordered_map<std::string, std::string> texts;
    std::unordered_map<std::string, std::string> reasons;
};

struct Settings : Luau::ConfigResolver
{
    Luau::Config config;
    const Luau::Config& getConfig(const Luau::ModuleName&, const Luau::TypeCheckLimits&) const override
    {
        return config;
    }
};

class Definitions
{
public:
    Definitions();

    // Empty: they are loaded.
    Findings load(const std::string& text);
    lc_status check(const std::string& module, std::string source, bool strict, double seconds, const lc_host* host);
    void forget();

private:
    void addFinally();
    void release(const std::string& module);
    Findings findings(const std::string& module, const Luau::CheckResult& result);

    Sources sources;
    Settings settings;
    Luau::Frontend frontend;
    std::unordered_map<std::string, Findings> found; // by module
};

} // namespace lc
