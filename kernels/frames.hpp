#pragma once

#include <cstdint>
#include <span>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "upright.hpp"

namespace tandem::kernels {

/// A cell that becomes the median of good cells beside it.
struct MendedCell {
  int row, bin;
  int first, count;  ///< in the list of cells that it is made of
};

/// How a row of a rolled detector lies in its rows: bin b of row r is at row r - (b slope - rise).
struct RolledRows {
  double slope, rise;
  TANDEM_HOST_DEVICE double shift(Index bin) const { return static_cast<double>(bin) * slope - rise; }
};

/// Work on frames (view, row, bin) on a GPU, with the results of the CPU.
struct FrameKernels {
  /// Cells that are mended become the median of those that stand in `good`, places row * bins + bin; of an
  /// even number, the mean of the two in the middle. @pre no cell that is mended is good
  void (*fill_medians)(std::span<const MendedCell> mended, std::span<const int> good, Image<float> y,
                       Stream& stream);
  /// Each bin takes its value from where its row lies, between two rows; beyond the outer ones, from these.
  void (*level)(RolledRows rows, Image<float> y, Stream& stream);
  /// Likewise, row r of each view from row r + its shift.
  void (*move)(std::span<const double> shifts, Image<float> y, Stream& stream);
  /// Frames of a crooked detector become those of an upright one. It holds `upright_at_once` more frames.
  void (*make_upright)(const UprightRays& real, Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const FrameKernels* frames(Device device);

}  // namespace tandem::kernels
