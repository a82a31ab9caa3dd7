#pragma once

#include <chrono>
#include <cmath>

#include "../../calibration/sharpest.hpp"
#include "calibrate.hpp"

namespace tandem::apps {

/// A selected part of a scan with its frames, of which 2^level x 2^level cells are one.
struct CalibratedPart {
  Selection selected;
  int level = 0;
  Scan scan;
  calibration::FrameStack frames{};
  double row = 0;  ///< row of the stack for which the axis is given
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  nlohmann::json seconds = nlohmann::json::object();  ///< what each stage took
  void end_stage(const char* name);

  double f() const { return std::exp2(level); }
  double f_of_rows() const { return selected.rows.size() == 1 ? 1 : f(); }
  double bin_in_file(double bin) const { return (bin + 0.5) * f() - 0.5 + selected.bins.first; }
  double row_in_file(double stack_row) const {
    return (stack_row + 0.5) * f_of_rows() - 0.5 + selected.rows.first;
  }
};

/// The lowest level at which so many cells become at most `most`.
int coarse_level(Index cells, Index most);

/// Reads the selected frames at a level. `scan` is the scan of the reader, in whatever form. Views of any
/// geometry have no angles: these are 0.
CalibratedPart calibrated_part(const CalibrateRun& run, const Scan& scan, int level);
/// The level for searches of the axis and of sharp slices: finer cells tell no more, because of their noise.
int level_of_searches(const Selection& selected);

/// The row for which the axis is given: the row at the height of a point source, else the middle row.
double row_of_axis(const Scan& scan);

/// One number of a report.
nlohmann::json told_number(double value, double uncertainty, std::string_view by);

/// Why slices do not tell a number.
const char* why_not(pipeline::Verdict verdict);

/// What slices were searched for, with the verdicts, for a report. Changes are in cells of the file and
/// degrees.
nlohmann::json searches_of(const calibration::SharpestSlices& found, const CalibratedPart& part);

/// By how many cells of the file, or degrees, a number differs from the scan, and the uncertainty of that.
double unit_of(calibration::Sought what, const CalibratedPart& part);

/// Adds to the report what each stage took, and slices in the middle and a third of the height above it,
/// before and after calibration, if they are to be shown.
void finish(Calibrated& all, const CalibrateRun& run, CalibratedPart& part, const Scan& before,
            const Scan& after, const std::string& caption = "calibrated");

}  // namespace tandem::apps
