#pragma once

#include "cone.hpp"
#include "parallel.hpp"

namespace tandem {

/// What rays count in FBP and FDK also where they pass beyond the ends of the detector: (view, bin) and (row,
/// bin) with so many bins more at either end.
std::vector<float> ray_shares(const ConeBeam& scan, Index beyond);
std::vector<float> bin_shares(const ParallelBeam& scan, Index beyond);

}  // namespace tandem
