#pragma once

#include <array>

#include "../step.hpp"

namespace tandem::pipeline::stripes {

/// Titarenko's method in the form of tomopy: sqrt(p + alpha |min p|) of the product p of two sinograms,
/// without first and without second differences, each in blocks of views. Views that are left over belong to
/// the last block.
struct BlockedTitarenko {
  static constexpr std::array<double, 2> first{1, -1};
  static constexpr std::array<double, 3> second{-1, 2, -1};
  Index blocks;  ///< 0: one
  double alpha;

  /// The views of each block. @throws GeometryError if there are fewer views than blocks
  std::vector<Range> blocks_of(Index views) const;
  double lift(float least) const;
};

/// The numbers that are added to the columns of a block, from their means and the sums of its views.
std::vector<double> excess_of(std::span<const double> means, std::span<const double> sums,
                              std::span<const double> difference);

/// The work on a GPU, and the bytes that it holds there.
GpuWork straighten_on_gpu(const BlockedTitarenko& how);
double gpu_bytes_of_blocks(Shape shape);

}  // namespace tandem::pipeline::stripes
