#include "recorded_pose.hpp"

#include <cmath>
#include <string>

#include "../../core/error.hpp"

namespace tandem::pipeline {

namespace {

void take(StepValues& values, const char* option, const std::optional<double>& recorded, double most) {
  if (!recorded || values.contains(option)) return;
  require<GeometryError>(std::abs(*recorded) <= most, option, ": the scan records ", *recorded,
                         " degrees; at most ", most, " are taken away, give another angle, 0 for none");
  values[option] = *recorded;
}

}  // namespace

StepValues with_recorded_pose(StepValues given, const io::ScanInfo& info) {
  constexpr double most = 10, most_in_parallel = 2;  // degrees
  take(given, "--detector-roll", info.roll_deg, rows_are_slices(info.scan) ? most_in_parallel : most);
  take(given, "--axis-tilt", info.tilt_deg, most);
  return given;
}

}  // namespace tandem::pipeline
