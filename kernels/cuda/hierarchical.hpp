#pragma once

#include "../hierarchical.hpp"

namespace tandem::kernels::cuda {

/// The memory that an application takes on a GPU beside its two vectors, bytes.
WorkingMemory hierarchical_memory(const HierarchicalViews& views);

}  // namespace tandem::kernels::cuda
