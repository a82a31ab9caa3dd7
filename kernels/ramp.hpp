#pragma once

#include <complex>
#include <string>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../core/kept_on_devices.hpp"

namespace tandem::kernels {

/// The ends of rows.
enum End : int { low_end, high_end };

/// End values of rows, as kernels see them: sums over the last bins.
struct EndValues {
  const float* shares;  ///< (row, end, bin counted from the end); one row for all if `one_row`
  bool one_row;
  Index bins;  ///< bins that count at an end
  Range row;   ///< place of the row in the line that has it
  /// The share of the b-th bin from an end, and the place of that bin.
  TANDEM_HOST_DEVICE float share(Index of_row, int end, Index b) const {
    return shares[((one_row ? 0 : of_row) * 2 + end) * bins + b];
  }
  TANDEM_HOST_DEVICE Index bin(int end, Index b) const {
    return end == low_end ? row.first + b : row.last - 1 - b;
  }
};

/// How rows go on beyond their ends: with their end values times a shape.
struct Continuation {
  std::vector<float> before, after;  ///< one number for each position of the transform; empty: with zeros
  std::vector<float> shares;         ///< as in EndValues, of rows as they come
  Index bins = 0;
  Range row{};  ///< place of the row in the line that comes
  bool zeros() const { return before.empty(); }
  EndValues end_values(const float* at) const { return {at, std::ssize(shares) == 2 * bins, bins, row}; }
  EndValues end_values() const { return end_values(shares.data()); }
};

/// A convolution along the bins of every (view, row). Rows go on to `length`, and may be moved in the same
/// pass. Rows may come out longer than they went in, and may be weighed. More of them may come out: those
/// beyond the first and the last one are like these, but for the weights after the convolution.
struct RowFilter {
  Index length;                     ///< length of the transform: at least twice the number of bins
  std::vector<float> response;      ///< real, at frequencies k / length for k = 0 .. length / 2
  std::vector<float> view_weights;  ///< one per view
  std::vector<double> row_shifts;   ///< how many bins each row moves to the right; empty: none moves

  // for rays that do not all count the same
  std::vector<float> cell_weights{};  ///< (row, bin of the output), applied before; empty: 1
  bool cells_after = false;           ///< whether they are applied after, too
  std::vector<float> ray_weights{};   ///< (view, 1 + bin of the input + 1), applied before; empty: 1. The
                                      ///< first and the last weigh what rows go on with.
  Index first_bin = 0;                ///< place of the first bin of the input among those of the output
  Index first_row = 0;                ///< the same for rows
  Continuation beyond{};
  KeptOnDevices kept{};
};

/// The rows at one end of a filter, input or output, as kernels see them.
struct FilterSide {
  Index first, bins;   ///< their place among the bins of the output
  Index first_row;     ///< the same for rows
  Range own;           ///< the rows that the input has
  Index rows;          ///< all of its rows
  Index cells_a_row;   ///< bins of the output
  const float *cells,  ///< weights; null: 1
      *rays;           ///< with one beyond either end
  /// Its rows that are, or are like, a row of the input.
  TANDEM_HOST_DEVICE Range like(Index row) const {
    return {row == 0 ? 0 : own.first + row, row == own.size() - 1 ? rows : own.first + row + 1};
  }
  TANDEM_HOST_DEVICE float weight(Index view, Index row, Index bin) const {
    const float cell = cells ? cells[(first_row + row) * cells_a_row + first + bin] : 1.0f;
    return rays ? cell * rays[view * (bins + 2) + bin + 1] : cell;
  }
  /// The weight of what rows go on with beyond an end.
  TANDEM_HOST_DEVICE float weight_beyond(Index view, int end) const {
    return rays ? rays[view * (bins + 2) + end * (bins + 1)] : 1.0f;
  }
};

struct FilterSides {
  FilterSide in, out;
};

/// Both ends of a filter whose weights lie at `cells` and `rays`, for projections of these shapes.
FilterSides sides_of(const RowFilter& filter, bool adjoint, const Shape& in, const Shape& out,
                     const float* cells, const float* rays);

struct Circles;  // circles.hpp

struct RampKernels {
  /// out <- alpha F in + beta out. If beta = 0, `out` is never read. `in` and `out` are (view, row, bin) and
  /// may be the same. With `adjoint`, rows are moved and weighed the other way.
  void (*filter)(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream);
  /// out <- out + alpha times what F with circles has more than F with the usual continuation. Rows of which
  /// neither end is open stay as they are, to the bit.
  void (*add_circles)(const Circles& how, float alpha, Image<const float> in, Image<float> out,
                      Stream& stream);
  std::vector<std::string> (*names)();  ///< the names of all kernels (launches.hpp)
};

/// @throws DeviceError if the build lacks the backend.
const RampKernels& ramp(Device device);

/// The factor at frequency k = 0 .. length - 1 of a row's transform that moves the row by `shift` bins to the
/// right.
std::complex<double> phase_of(Index k, Index length, double shift);

/// The least length >= `count` that transforms fast: even, and 2^a 3^b 5^c.
Index transform_length(Index count);

}  // namespace tandem::kernels
