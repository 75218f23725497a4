// A mismatch of types, which Luau nests as deep as the types are, as one place and two types.
#pragma once

#include "finding.h"

#include "Luau/Error.h"

namespace lc
{

void explainMismatch(const Luau::TypeMismatch& mismatch, Finding& finding);
void explainMissing(const Luau::MissingProperties& missing, Finding& finding);

} // namespace lc
