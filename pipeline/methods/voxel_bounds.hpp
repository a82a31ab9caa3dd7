#pragma once

#include <memory>

#include "../../io/volumes/volume_file.hpp"
#include "work.hpp"

namespace tandem::pipeline {

/// How many volumes the bounds of a method take.
int volumes_of_bounds(const Method& method, const Recipe& asked);

/// Opens the file of a job's support, and reads it once, to see that it says something. Null if there is no
/// file. @throws FileError for another grid, for values that are no numbers, and if no voxel is within, or
/// none is farther from the edge than the shell is thick
std::unique_ptr<io::VolumeReader> open_support(const Job& job, bool any_external);

/// The bounds of the voxels of one worker: those of the recipe, but 0 outside of the support, and the highest
/// value in a shell at its edge. Voxels beyond the grid of a support's file may be within.
class VoxelBounds {
 public:
  explicit VoxelBounds(Work& work);
  Bounds operator()(const Problem& problem, Range slices);

 private:
  Array places(const Problem& problem, Range slices);

  Work& work_;
  Bounds all_;
  std::unique_ptr<io::VolumeReader> file_;
};

}  // namespace tandem::pipeline
