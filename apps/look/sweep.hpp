#pragma once

#include "../../calibration/sharpness.hpp"
#include "look_scan.hpp"

namespace tandem::apps {

/// Which values of an option are tried.
struct SweepAsked {
  std::string name;             ///< the option, without dashes
  std::vector<double> values;   ///< from the first to the last, at most 200
  std::vector<Index> slices{};  ///< slices of the volume; none: the middle one
  calibration::Score score = calibration::Score::sharpness;
};

/// NAME=A:B:STEP. @throws UsageError
SweepAsked sweep_in(const std::string& text);
/// From the first value to the last. @throws UsageError
SweepAsked sweep_of(const std::string& name, double first, double last, double step);

/// What came out of it.
struct SweepMade {
  calibration::SweepResult result;
  std::vector<std::string> texts;     ///< the values, as an option takes them
  std::vector<io::Picture> pictures;  ///< the first slice at each value, made smaller
  io::VolumePlace place;
  std::vector<std::string> warnings;
};

/// Makes the slices with these options, and `name` in turn with each value. `done` is called with the number
/// of values that are done; it ends the work by throwing.
SweepMade swept(LookScan& scan, const nlohmann::json& options, const SweepAsked& asked, Index side,
                const std::function<void(std::size_t)>& done);

/// A command of a page: {options, name, first, last, step, z, side, score}. Its pictures come one below the
/// other.
Pictured sheet_of_sweep(LookScan& scan, const nlohmann::json& asked, const LookScan::GoOn& go_on);

/// `tandem recon --sweep`: the table, the sheet of --preview and the report.
void run_sweep(ReconOptions& options);

}  // namespace tandem::apps
