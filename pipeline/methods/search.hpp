#pragma once

#include "method.hpp"

namespace tandem::pipeline {

/// The method of a solver with a regulariser, which looks for its weight on some slices unless it is given,
/// weighs data by their photons, and begins with FBP.
Method with_search(Method method);

}  // namespace tandem::pipeline
