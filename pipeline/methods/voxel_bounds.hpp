#pragma once

#include <memory>

#include "../../io/volumes/volume_file.hpp"
#include "work.hpp"

namespace tandem::pipeline {

/// An end from here on is none, see `least_products`.
constexpr float no_bound = 1e18f;

/// How many volumes the bounds of a method take.
int volumes_of_bounds(const Method& method, const Recipe& asked);

/// The files of a job's bounds; null where there is none.
struct BoundsFiles {
  std::unique_ptr<io::VolumeReader> support, lowest, highest;
};

/// Opens them, and reads them once, to see that they say something. @throws FileError for another grid, for
/// values that are no numbers, if no voxel is within the support, or none is farther from the edge than the
/// shell is thick, and for a lowest value above the highest one
BoundsFiles open_bounds(const Job& job, bool any_external);

/// The bounds of the voxels of one worker: those of the recipe, but 0 outside of the support, and the highest
/// value in a shell at its edge. Voxels beyond the grid of a file may have any value.
class VoxelBounds {
 public:
  explicit VoxelBounds(Work& work);
  Bounds operator()(const Problem& problem, Range slices);

 private:
  Array places(const Problem& problem, Range slices);
  Array ends(io::VolumeReader* file, float for_all, float beyond, const Array& places, Range slices);

  Work& work_;
  Bounds all_;
  BoundsFiles files_;
};

}  // namespace tandem::pipeline
