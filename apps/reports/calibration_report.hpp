#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "../../calibration/found.hpp"
#include "../../io/sheet.hpp"

namespace tandem::apps {

/// What a calibration found: for `--json`, and in lines for people.
nlohmann::json calibration_report(const calibration::Found& found);
std::vector<std::string> calibration_lines(const calibration::Found& found);

/// Slices before and after, or where shadows of balls fell and by how much they are missed.
struct CalibrationPictures {
  std::vector<io::Picture> pictures;
  io::Sheet sheet;
};
CalibrationPictures calibration_pictures(const calibration::Found& found, const Detector& selected);

/// The root mean square of the numbers of all views, or of their uncertainties.
double rms_of(const std::vector<double>& numbers);

}  // namespace tandem::apps
