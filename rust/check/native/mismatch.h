// A mismatch of types, which Luau nests as deep as the types are, as one place and two types.
#pragma once

#include "finding.h"

#include "Luau/Error.h"

namespace lc
{

// Whether a value of the given type may well be what is wanted. A string that the checker does not know may be one of
// several wanted ones.
bool covers(Luau::TypeId wanted, Luau::TypeId given);

void explainMismatch(const Luau::TypeMismatch& mismatch, Finding& finding);
void explainMissing(const Luau::MissingProperties& missing, Finding& finding);

} // namespace lc
