#pragma once

#include <optional>
#include <vector>

#include "../../step.hpp"
#include "../spreads.hpp"
#include "profiles.hpp"
#include "wide.hpp"

namespace tandem::pipeline::stripes {

constexpr Index fewest_views = 16, fewest_bins = 32;
constexpr float least_transmission = 1e-6f;

/// What `auto` has found in a sinogram, and takes out.
struct FoundStripes {
  Index dead = 0;  ///< columns that were interpolated
  bool wide = false, faint = false, soft = false;
  std::vector<double> constants = {};  ///< constant of each column, in line integrals
  std::optional<double> left = {};     ///< see `SoftStripes`

  void note(Notes& notes) const;
  bool is_to_be_taken_out() const { return wide || faint || soft; }
  std::vector<double> negative() const;  ///< what is added to line integrals
  std::vector<float> factors() const;    ///< what transmissions are multiplied by
};

/// Notes that there is too little to know stripes by.
void note_too_few(Notes& notes);

/// Sets the constants to those of wide stripes.
void find_wide(FoundStripes& found, std::span<const float> jumps, const ColumnsAt& columns,
               std::optional<double> axis);

/// Adds the constants of faint stripes, if these are beyond doubt. `fourth`: spreads of fourth differences,
/// without wide stripes. `second()` gives the medians of second differences.
void find_faint(FoundStripes& found, const ColumnSpreads& fourth, Index views,
                const std::function<std::vector<float>()>& second);

/// Adds the constants of soft stripes, and estimates what is left. `medians`: block medians of columns from
/// which nothing was taken out. `axis`: the bin of the rotation axis, if it is known.
void find_soft(FoundStripes& found, const BlockMedians& medians, std::optional<double> axis);

/// The whole search on a GPU.
GpuWork look_on_gpu(const Preprocessing& how);
double gpu_bytes_of_look(Shape shape);

}  // namespace tandem::pipeline::stripes
