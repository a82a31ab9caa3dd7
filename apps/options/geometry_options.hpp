#pragma once

#include <string>

#include "../../geometry/scan.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../command.hpp"

namespace tandem::apps {

/// The scan that `simulate` and `project` make.
struct GeometryOptions {
  std::string geometry = "parallel";
  io::OpenOptions list;         ///< the list of angles, and how it is read
  io::GeometryName views_file;  ///< the geometry of each view, in the place of a kind and angles
  std::string trajectory = "circle";
  bool is_fan = false;  ///< whether the detector has one row
  bool curved = false;  ///< whether the detector lies on a cylinder about the source
  std::optional<double> pitch_mm, elevation_deg, jitter_mm;
  std::uint64_t seed = 0;  ///< seed of the jitter
  std::optional<Index> bins, rows, views;
  std::optional<double> arc, sod_mm, sdd_mm, midplane_row, axis_bin, pixel_size_mm;
  double start = 0;
};

void add_geometry(Table& command, GeometryOptions& options);
/// Adds --trajectory and what goes with it. Comes before `add_geometry`.
void add_trajectory(Table& command, GeometryOptions& options);

/// Whether lengths of the scan of these options are always in mm, even if the user gives no pitch.
bool is_in_mm(const GeometryOptions& options);

/// The scan of these options. Defaults: as many bins as voxels along x, and one row per slice. `note` becomes
/// what the user should know about the angles, if there is anything. @throws FileError for a list of angles
/// that cannot be read; GeometryError
Scan scan_of(const GeometryOptions& options, Index size, Index slices, double pitch_mm, std::string& note);

}  // namespace tandem::apps
