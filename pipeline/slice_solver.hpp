#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../io/png.hpp"
#include "../io/scans/scan_reader.hpp"
#include "../io/volumes/volume_place.hpp"
#include "plan/recipe.hpp"

namespace tandem::pipeline {

/// What a solver is to show, and how closely.
struct Solve {
  Index slice = 0;    ///< number in the volume that the recipe makes
  int binning = 0;    ///< 2^binning cells more become one than in the recipe, so that a cone takes seconds
  bool warm = false;  ///< begins at the volume that is there from the last time, if it has the same voxels
  /// All but iterations and weights of a regulariser. If that is the same as the last time, a warm start goes
  /// on from the whole state of the solver, with its dual variables, and not from the volume alone.
  std::string problem = {};
};

/// Functions that see a solver at work; each may be empty. They may throw to end it without a result.
struct SolveSeen {
  /// After each step and before the first one, with |b - Ax| over that of the start; false: it is enough.
  std::function<bool(int iteration, double residual)> step;
  std::function<void(io::Picture iterate, int iteration)> picture;  ///< at most about ten times a second
  std::function<void(const std::string& stage, const std::string& detail)> stage;
};

/// The slice as the solver has left it.
struct Solved {
  io::Picture picture;
  io::VolumePlace place;  ///< where the volume is that was solved
  std::string unit, method;
  Index slice = 0, slices = 1;     ///< number and count in that volume, which is coarser if there was binning
  bool whole = false;              ///< whether all slices were made
  bool warm = false;               ///< whether it began at the volume from the last time
  int iterations = 0;              ///< until it ended
  std::string stopped_by;          ///< "stopped" if `SolveSeen::step` ended it
  std::optional<float> tv_weight;  ///< that was given, or found
  std::vector<std::string> warnings;  ///< warnings of the plan and of the data
};

/// Solves a slice of a parallel beam, or the whole volume of another one, as `reconstruct` does, and keeps it
/// in memory for the next time; by a method that is a filter it makes the whole volume of any beam, for the
/// planes along the axis. A slice of a parallel beam that is not binned and did not begin warm has the
/// bits of a run with as many iterations on the same device; in a fan or cone beam so has the volume.
class SliceSolver {
 public:
  explicit SliceSolver(io::ScanReader& reader);
  ~SliceSolver();

  /// @throws as `make_plan` and `reconstruct` do
  Solved solve(const Recipe& recipe, const Solve& what, const SolveSeen& seen);
  /// A plane of the volume that is there, normal to x, y or z (0, 1, 2): (z, y), (z, x) or (y, x). Empty if
  /// there is no such plane.
  std::optional<io::Picture> plane(std::size_t axis, Index number) const;
  /// The least binning with which an iteration takes about a second, or a volume some seconds: 0 if a slice
  /// is solved alone.
  int quick_binning(const Recipe& recipe) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::pipeline
