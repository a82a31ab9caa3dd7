#pragma once

#include <functional>
#include <string>

#include "look_scan.hpp"

namespace tandem::apps {

/// Told what a search does now, and how much of it is done: 0 to 1.
using ToldStage = std::function<void(const std::string& words, double share)>;

/// A command of a page: {options, each_view, side}. The head has the report of `tandem calibrate`, and in
/// `numbers` what was found, each with the option of the page that takes it, or why none does. Shifts of
/// views are root mean squares there. The pictures, slices before and after, come one below the other.
/// @throws GeometryError, UsageError for scans that `calibrate` refuses
Pictured sheet_of_calibration(LookScan& scan, const nlohmann::json& asked, const LookScan::GoOn& go_on,
                              const ToldStage& tell);

}  // namespace tandem::apps
