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
  TANDEM_HOST_DEVICE double shift(Index bin) const { return bin * slope - rise; }
};

/// Work on frames (view, row, bin) on a GPU, with the results of the CPU.
struct FrameKernels {
  /// Sets each mended cell to the median of its cells in `good`, which are places row * bins + bin. For an
  /// even number it is the mean of the two in the middle. @pre no cell that is mended is good
  void (*fill_medians)(std::span<const MendedCell> mended, std::span<const int> good, Image<float> y,
                       Stream& stream);
  /// Each bin takes its value from where its row lies, between two rows; beyond the outer ones, from these.
  void (*level)(RolledRows rows, Image<float> y, Stream& stream);
  /// Takes row r of each view from row r + its shift, in the same way.
  void (*move)(std::span<const double> shifts, Image<float> y, Stream& stream);
  /// Frames of a crooked detector become those of an upright one. It holds `upright_at_once` more frames.
  void (*make_upright)(const UprightRays& real, Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const FrameKernels* frames(Device device);

}  // namespace tandem::kernels
