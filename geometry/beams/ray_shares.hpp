#pragma once

#include "cone.hpp"
#include "parallel.hpp"

namespace tandem {

/// The weights of rays in FBP and FDK, also of rays beyond the ends of the detector: (view, bin) and (row,
/// bin) with `beyond` more bins at either end.
std::vector<float> ray_shares(const ConeBeam& scan, Index beyond);
std::vector<float> bin_shares(const ParallelBeam& scan, Index beyond);

}  // namespace tandem
