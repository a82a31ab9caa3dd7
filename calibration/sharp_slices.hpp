#pragma once

#include <array>
#include <optional>
#include <vector>

#include "../core/array.hpp"
#include "../geometry/level_scan.hpp"
#include "changed_views.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// What slices of two halves of the views have in common in the four quarters of the disc: (trial, row,
/// quarter).
using Energies = std::vector<std::vector<std::vector<double>>>;

/// Slices of a scanner that is changed a little, from frames of a whole turn that were filtered once. Frames
/// are smoothed before, so that interpolation dims noise by nearly the same wherever a ray falls between
/// cells, and what does not turn is taken away. A slice goes with a row: it lies where that row sees the
/// axis.
///
/// Over a whole turn each edge is seen from both sides. Where these sides do not fit, it fades, and the
/// energy of gradients falls. That is measured as what slices of two halves of the views have in common, to
/// which noise adds nothing. (Views of half a turn have the same energy wherever they are.)
class SharpSlices {
 public:
  /// Means of `factor` x `factor` cells; some views are left out if there are very many. @throws
  /// GeometryError for views that have no filter
  SharpSlices(const FrameStack& frames, const Scan& scan, Index factor, Device device);

  /// What is reconstructed is a disc of four fifths of the width.
  Index width() const { return width_; }
  Index own_rows() const { return own_rows_; }
  /// Rows that count from the middle of the detector: far from the midplane on both sides, and half as far.
  /// The disc stays `reserve` rows within the detector, if it can.
  std::vector<double> far_rows(double reserve) const;
  /// Rows whose slices have the most energy as the views are: where a plate lies.
  std::vector<double> fullest_rows(double reserve) const;

  /// The energy of gradients in the slices of each trial.
  Energies energies(const std::vector<Change>& trials, const std::vector<double>& rows) const;
  /// What two halves of the views have in common: the correlation of their gradients, 1 without noise and 0
  /// where slices show nothing but noise.
  double common(const Change& change, const std::vector<double>& rows) const;
  /// How far shadows of the disc move, cells, at most over places and views, for a small change, while rows
  /// see the axis where they did.
  double reach_of(const Change& small, const std::vector<double>& rows) const;

 private:
  double radius() const;  ///< the disc's, mm
  /// Slices of even views and of odd ones, (trial and row and half, y, x).
  Array slices(const std::vector<Change>& trials, const std::vector<double>& rows) const;
  /// Where the shadows of four points at the edge of the disc fall, bin and row, in some of the views.
  std::vector<std::array<double, 2>> shadows(const Change& change, double row) const;

  LevelScan level_;                  ///< the scan with the rows that are filtered
  std::optional<Array> filtered_{};  ///< on the device
  Index width_ = 0, own_rows_ = 0;
  double cell_ = 1;  ///< the pitch of a bin at the axis, mm
};

}  // namespace tandem::calibration
