#pragma once

#include "../../core/array.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// Looks at the voxels of some slices where they lie, on the host or on a GPU. @throws GeometryError if some
/// are not finite: the line integrals are, so what is not was made here
void require_finite(const Job& job, Range slices, ConstVectorView volume);

}  // namespace tandem::pipeline
