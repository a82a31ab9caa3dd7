#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "../../io/png.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// The page of this text with data in place of the marks {{NAME}}, which stand in it in this order. No text
/// of them can end an element of HTML, nor is one taken for a mark.
std::string with_data(const std::string& page,
                      const std::vector<std::pair<std::string, nlohmann::json>>& data);

/// A plane through the middle of a volume.
struct MiddlePlane {
  char axis;             ///< axis to which it is normal
  Index index, count;    ///< its number along that axis, and the number of planes
  io::Picture picture;   ///< at most `pipeline::live_side` pixels a side
  double width, height;  ///< in one unit of length
};

/// A histogram of the values of voxels.
struct Histogram {
  float low = 0, high = 1;  ///< ends of the range that `counts` divides into equal parts
  std::vector<Index> counts = {};
  Index below = 0, above = 0, not_finite = 0;  ///< voxels outside of the range
  Index slices = 0;                            ///< number of slices that were looked at
};

/// The parts of a volume that a page shows.
struct VolumeView {
  std::vector<MiddlePlane> planes;
  Histogram histogram;
  std::string unit;
};

/// The three planes through the middle, and the histogram of the slices that are read for them. A volume of
/// few slices has only the plane across the axis. Reads at most about a thousand slices. @throws FileError
VolumeView view_of(io::VolumeReader& volume, ProgressLine& progress);

/// The page of a report of `recon` (apps/pages/report.html), which needs no other file and no network.
/// If there are no planes, it says why: `missing`.
std::string report_page(const nlohmann::json& report, const VolumeView& view, const std::string& missing);

}  // namespace tandem::apps
