#pragma once

#include <cmath>
#include <functional>
#include <span>

#include "found.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// The frames that are searched: selected views, rows and bins of a scan.
struct MeasuredFrames {
  Scan scan;  ///< the whole
  Range views, rows, bins;
  /// Calls a function with each selected view and its line integrals, (row, bin) of the selection: from
  /// several threads, for views in any order.
  std::function<void(const std::function<void(std::size_t view, std::span<const float> frame)>& take)> each;
  bool axis_known = true;  ///< whether a file or a user says where the axis is; else it is in the middle
};

/// Frames in memory, of which 2^level x 2^level cells are one, and the geometry of their views.
struct Part {
  const MeasuredFrames& measured;
  int level;
  Scan scan;  ///< that of the part
  FrameStack frames{};
  double row = 0;  ///< row of the stack for which the axis is given
  Laps laps{};

  double f() const { return std::exp2(level); }
  double f_of_rows() const { return measured.rows.size() == 1 ? 1 : f(); }
  double bin_in_file(double bin) const { return (bin + 0.5) * f() - 0.5 + measured.bins.first; }
  double row_in_file(double stack_row) const {
    return (stack_row + 0.5) * f_of_rows() - 0.5 + measured.rows.first;
  }
};

/// Takes the frames at the lowest level at which `cells` become at most `most`. `scan` is the whole scan in
/// whatever form. Views of any geometry have no angles: these are 0.
Part part_of(const MeasuredFrames& measured, const Scan& scan, Index cells, Index most);

/// The row for which the axis is given: the row at the height of a point source, else the middle row.
double row_of_axis(const Scan& scan);

/// Shows slices in the middle and a third of the height above it, before and after calibration, if they are
/// asked for, and ends the laps.
void show_slices(Found& found, Part& part, const Scan& before, const Scan& after, const How& how,
                 const std::string& caption = "calibrated");

}  // namespace tandem::calibration
