// What a check finds, in C++.
#pragma once

#include "check.h"

#include "Luau/Location.h"

#include <string>
#include <vector>

namespace lc
{

struct Finding
{
    std::string kind;
    Luau::Location location;
    bool declared = false;
    std::string path, field, name, wanted, given, text;
    std::vector<std::string> names;
    bool allNames = false;

    // Takes of all names those that a mistyped one may mean, or all where they are few.
    void choose(const std::string& wanted, std::vector<std::string> all);
};

using Findings = std::vector<Finding>;

// Hands findings to the host.
void report(const Findings& findings, const lc_host* host);

} // namespace lc
