#pragma once

#include <complex>
#include <string>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"

namespace tandem::kernels {

/// One convolution along bins for every (view, row), done on rows padded with zeros to `length`, with the
/// bins that a row is moved by in the same pass. Rows may come out longer than they went in, and be weighed.
struct RowFilter {
  Index length;                     ///< of the transform, at least twice the bins
  std::vector<float> response;      ///< real, at frequencies k / length for k = 0 .. length / 2
  std::vector<float> view_weights;  ///< one a view
  std::vector<double> row_shifts;   ///< bins to the right, one a row; empty: none

  // of rays that count unlike each other
  std::vector<float> cell_weights{};  ///< (row, bin that comes out): before and after; empty: 1
  std::vector<float> ray_weights{};   ///< (view, bin that goes in): before; empty: 1
  Index first_bin = 0;                ///< that comes out, from where rows go in
};

/// The rows on one side of a filter, as kernels see them.
struct FilterSide {
  Index first, bins;   ///< where they lie among the bins that come out
  Index cells_a_row;   ///< bins that come out
  const float *cells,  ///< weights, null: 1
      *rays;
  TANDEM_HOST_DEVICE float weight(Index view, Index row, Index bin) const {
    const float cell = cells ? cells[row * cells_a_row + first + bin] : 1.0f;
    return rays ? cell * rays[view * bins + bin] : cell;
  }
};

struct FilterSides {
  FilterSide in, out;
};

/// Of a filter whose weights lie at `cells` and `rays`, for rows of so many bins.
FilterSides sides_of(const RowFilter& filter, bool adjoint, Index bins_in, Index bins_out, const float* cells,
                     const float* rays);

struct RampKernels {
  /// out <- alpha F in + beta out; beta = 0 never reads out. `in` and `out` are (view, row, bin), and may be
  /// the same. `adjoint` shifts and weighs the other way.
  void (*filter)(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream);
  std::vector<std::string> (*names)();  ///< of all kernels (launches.hpp)
};

/// @throws DeviceError if the build lacks the backend.
const RampKernels& ramp(Device device);

/// What moves a row by `shift` bins to the right, at frequency k = 0 .. length - 1 of its transform.
std::complex<double> phase_of(Index k, Index length, double shift);

/// The next length of at least `count` that transforms fast: 2^a 3^b 5^c, even.
Index transform_length(Index count);

}  // namespace tandem::kernels
