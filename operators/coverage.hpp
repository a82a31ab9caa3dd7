#pragma once

#include <vector>

#include "../core/array.hpp"
#include "linear_operator.hpp"

namespace tandem {

/// The coverage of each voxel, At 1: the lengths of the rays in it.
class Coverage {
 public:
  explicit Coverage(const LinearOperator& A);
  /// 1 for voxels whose coverage is above a share of the usual one, else 0. Usual is the mean of the block,
  /// weighted by the coverage itself.
  Array above(double share) const;

 private:
  Array coverage_;
  std::vector<double> usual_;  // one per block
};

}  // namespace tandem
