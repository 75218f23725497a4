// Luau's errors as findings: what was wanted, what was given, where, and what there is instead.
#pragma once

#include "finding.h"
#include "tree.h"

#include "Luau/Module.h"
#include "Luau/Scope.h"

namespace lc
{

// What is known of the module that is explained.
struct Subject
{
    const Luau::Module& module;
    const Tree& tree;
    const Luau::Scope& globals;
};

// So many findings of one script are enough.
constexpr size_t kMostFindings = 200;

Findings explain(const Subject& subject);

// The fields of table literals that their expected types do not have, and those by a key in brackets: Luau lets them
// pass.
void unknownFields(const Subject& subject, Findings& findings);

} // namespace lc
