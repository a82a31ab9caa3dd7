#pragma once

#include <optional>

#include "../geometry/scan.hpp"
#include "../geometry/views.hpp"
#include "../io/scans/scan_writer.hpp"
#include "../io/volumes/volume_file.hpp"
#include "watch/progress.hpp"

namespace tandem::pipeline {

/// What is projected where. Lengths are in mm or, where the volume knows none, in bins.
struct ProjectedScan {
  Scan scan;
  VolumeGrid grid;
  std::optional<double> pixel_size_mm;  ///< nothing where lengths are in bins
  double attenuation = 1;               ///< for each unit of length, of a voxel's value
  Index first_row = 0;                  ///< of a parallel beam: where slice 0 falls; may lie outside
};

/// Where slice 0 of a parallel beam falls: as far from the detector's middle as the slice is from z = 0. If
/// the place of the volume is not known (`placed`), each row has its slice. @throws GeometryError if slices
/// do not fall on rows
void place_slices(ProjectedScan& projection, bool placed);

/// Writes the scan of a volume without noise: transmissions exp(-y), one flat of 1 and one dark of 0, in
/// parts that memory holds. The caller finishes the writer. `model`: of a parallel beam. @throws Error, and
/// what `progress` throws
void project(const ProjectedScan& projection, std::optional<Model> model, io::VolumeReader& volume,
             io::ScanWriter& writer, const OnProgress& progress);

}  // namespace tandem::pipeline
