#pragma once

#include <optional>

#include "../core/execution.hpp"
#include "../geometry/scan.hpp"
#include "../io/scans/scan_writer.hpp"
#include "../io/volumes/volume_file.hpp"
#include "watch/progress.hpp"

namespace tandem::pipeline {

/// A volume and the scan onto which it is projected. Lengths are in mm, or in bins if the volume has no unit.
struct ProjectedScan {
  Scan scan;
  VolumeGrid grid;
  std::optional<double> pixel_size_mm;  ///< empty if lengths are in bins
  double attenuation = 1;               ///< attenuation per unit of length of a voxel with value 1
  Index first_row = 0;                  ///< row of slice 0 in a parallel beam; may lie outside
};

/// Sets `first_row` of a parallel beam: slice 0 is as far from z = 0 as its row is from the middle of the
/// detector. If the place of the volume is not known (`placed` is false), row k has slice k. @throws
/// GeometryError if slices do not fall on rows
void place_slices(ProjectedScan& projection, bool placed);

/// Writes the scan of a volume without noise: transmissions exp(-y), one flat of 1 and one dark of 0. It
/// works in parts that fit into memory. The caller finishes the writer. `model` is for a parallel beam.
/// @throws Error, and what `progress` throws
void project(const ProjectedScan& projection, std::optional<Model> model, io::VolumeReader& volume,
             io::ScanWriter& writer, const OnProgress& progress);

}  // namespace tandem::pipeline
