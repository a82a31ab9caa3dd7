#pragma once

#include "../../counts/preprocess.hpp"

namespace tandem::pipeline {

/// Whether line integrals depend on where the axis is: frames become upright, or a step looks at what lies on
/// the other side of the axis.
bool steps_heed_axis(const Preprocessing& how);

}  // namespace tandem::pipeline
