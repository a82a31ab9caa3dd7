#pragma once

#include <complex>
#include <vector>

#include "tandem/core/array.hpp"

namespace tandem::kernels {

/// One convolution along bins for every (view, row), done on rows padded with zeros to `length`, with the
/// bins that a row is moved by in the same pass.
struct RowFilter {
  Index length;                     ///< of the transform, at least twice the bins
  std::vector<float> response;      ///< real, at frequencies k / length for k = 0 .. length / 2
  std::vector<float> view_weights;  ///< one a view
  std::vector<double> row_shifts;   ///< bins to the right, one a row; empty: none
};

struct RampKernels {
  /// out <- alpha F in + beta out; beta = 0 never reads out. `in` and `out` are (view, row, bin) with the
  /// same strides, and may be the same. `adjoint` shifts the other way.
  void (*filter)(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream);
};

/// @throws DeviceError if the build lacks the backend.
const RampKernels& ramp(Device device);

/// What moves a row by `shift` bins to the right, at frequency k = 0 .. length - 1 of its transform.
std::complex<double> phase_of(Index k, Index length, double shift);

/// The next length of at least `count` that transforms fast: 2^a 3^b 5^c, even.
Index transform_length(Index count);

}  // namespace tandem::kernels
