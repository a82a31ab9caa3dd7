#pragma once

#include "../../counts/preprocess.hpp"

namespace tandem::pipeline {

/// Whether line integrals depend on the position of the axis: if frames are turned upright, or if a step
/// compares both sides of the axis.
bool steps_heed_axis(const Preprocessing& how);

}  // namespace tandem::pipeline
