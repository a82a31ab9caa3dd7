#pragma once

#include "tandem/kernels/cone.hpp"

namespace tandem::kernels::cpu {

extern const ConeKernels separable_footprint_kernels;

/// Of all cone-beam kernels here: what is read lies turned beside, and each thread sums up one view.
WorkingMemory cone_working_memory(Shape volume, Shape projections);

}  // namespace tandem::kernels::cpu
