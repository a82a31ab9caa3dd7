#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../io/png.hpp"
#include "../io/scans/scan_reader.hpp"
#include "../io/volumes/volume_place.hpp"
#include "plan/recipe.hpp"
#include "watch/progress.hpp"

namespace tandem::pipeline {

/// A slice about a trial axis.
struct AxisTrial {
  double axis_bin;    ///< in bins of the file
  io::Picture slice;  ///< at most `side` pixels a side
  /// The total variation over that of the best trial, in the middle four fifths of the slice. About a wrong
  /// axis an edge becomes several.
  double unsharpness;
};

struct AxisTrials {
  std::vector<AxisTrial> trials;
  std::size_t best;                   ///< the sharpest one
  io::VolumePlace place;              ///< that of a slice before it is made smaller
  std::vector<std::string> warnings;  ///< each once
};

/// Makes the same slice about each of these axes, as `reconstruct` makes it: the middle one of the recipe. In
/// a parallel beam it has the same bits as in a run, in a cone beam it is the same up to rounding. Counts are
/// read once. `done` is called with the number of trials that are done; it may throw. @throws as `make_plan`
/// and `reconstruct` do
AxisTrials try_axes(io::ScanReader& reader, const Recipe& recipe, std::span<const double> axes, Index side,
                    const std::function<void(std::size_t)>& done);

}  // namespace tandem::pipeline
