#pragma once

#include <string>
#include <vector>

#include "command.hpp"
#include "tandem/geometry/volume_grid.hpp"

namespace tandem::apps {

/// The parallel beam of `simulate` and `project`.
struct GeometryOptions {
  std::string geometry = "parallel", angles_file;
  std::optional<Index> bins, views;
  double arc = 180, start = 0;
  std::optional<double> axis_bin, pixel_size_mm;
};

void add_geometry(CLI::App& command, GeometryOptions& options);

/// @throws FileError for an angle file that cannot be read; GeometryError
ParallelBeam scan_of(const GeometryOptions& options, Index size, Index rows, double pitch_mm);

}  // namespace tandem::apps
