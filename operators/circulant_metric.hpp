#pragma once

#include <array>
#include <memory>
#include <vector>

#include "linear_operator.hpp"

namespace tandem {

namespace kernels {
struct SliceMetric;
}

/// A metric of volumes in which steps of solvers are nearly as long as they may be at all frequencies:
/// M = F* (a u + b v) F, slice by slice, with the Fourier transform F of a slice. u is the spectrum of At A:
/// 1 / |f| where rays come from all around, or 1 if A is no projector of a scan; plus `more`. v is the
/// spectrum of Dt D, for differences D with these factors along (slice, y, x), where differences between
/// slices count by their mean. Source: the circulant preconditioner of Fessler, Booth, IEEE Transactions on
/// Image Processing 8(5), 1999.
class CirculantMetric {
 public:
  /// `differences`, `shear`: those of D, see `gradient`; if all are 0, v is `otherwise`. @throws SpaceError
  /// unless the space is a volume
  CirculantMetric(const Space& volume, bool of_projector, std::array<float, 3> differences, float shear,
                  double otherwise, double more);

  /// The inverse of M, with a and b of each block; zero in blocks whose a is 0. On ranks it is collective.
  LinearOperator inverse(const std::vector<float>& a, const std::vector<float>& b) const;
  /// The trace of F* (u - more) F of a block.
  double trace() const { return trace_; }

 private:
  Space volume_;
  std::shared_ptr<const kernels::SliceMetric> spectra_;
  double trace_;
};

}  // namespace tandem
