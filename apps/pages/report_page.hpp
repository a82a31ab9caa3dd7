#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../io/png.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// A plane through the middle of a volume.
struct MiddlePlane {
  char axis;             ///< that it is normal to
  Index index, count;    ///< its place along that axis
  io::Picture picture;   ///< at most `pipeline::live_side` pixels a side
  double width, height;  ///< in one unit of length
};

/// The three planes through the middle; of a volume of few slices the first one alone. Reads at most about a
/// thousand slices. @throws FileError
std::vector<MiddlePlane> middle_planes(io::VolumeReader& volume, ProgressLine& progress);

/// The page of a report of `recon` (apps/pages/report_page.html), which needs no other file and no network.
/// If there are no planes, it says why: `missing`.
std::string report_page(const nlohmann::json& report, const std::vector<MiddlePlane>& planes,
                        const std::string& unit, const std::string& missing);

}  // namespace tandem::apps
