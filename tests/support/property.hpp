#pragma once

#include <rapidcheck.h>

#include <cstdlib>
#include <string>
#include <utility>

namespace tandem::test {

/// RapidCheck reads its seed from the environment at its first use; a fixed one unless somebody gives
/// another.
inline const bool seeded = setenv("RC_PARAMS", "seed=20261101", 0) == 0;

/// Whether a law, a function of generated values, holds for all of them; says so on standard error if not.
template <class Law>
bool holds(const std::string& what, Law law) {
  return rc::check(what, std::move(law));
}

}  // namespace tandem::test
