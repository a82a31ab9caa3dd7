#pragma once

#include <span>

#include "../core/array.hpp"
#include "columns.hpp"

namespace tandem::kernels {

/// Signs that alternate.
TANDEM_HOST_DEVICE inline float sign_of(Index k) { return k % 2 == 0 ? 1.0f : -1.0f; }

/// Work between two filters of sinograms (row, view, bin) on a GPU, for a fit of their columns that is made
/// even. Values are those of the CPU.
struct FitKernels {
  /// A sinogram goes on behind its views as in a mirror.
  void (*mirror)(Image<const float> sinograms, Image<float> longer, Stream& stream);
  /// A margin comes around sinograms: rows go on as they end, and columns by their `means` (row, bin).
  /// Signs alternate along both.
  void (*widen)(Image<const float> sinograms, std::span<const float> means, Index margin, Image<float> wide,
                Stream& stream);
  /// The opposite.
  void (*narrow)(Image<const float> wide, Index margin, Image<float> sinograms, Stream& stream);
  /// y <- y / fitted (scale even), where `fitted` is not 0, with a scale for each sinogram.
  void (*divide)(Image<const float> fitted, Image<const float> even, std::span<const double> scales,
                 Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const FitKernels* fits(Device device);

}  // namespace tandem::kernels
