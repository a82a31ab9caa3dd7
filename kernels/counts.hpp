#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../core/pixel_type.hpp"
#include "unfused.hpp"

namespace tandem::kernels {

// ---- one cell, the same on the CPU and on a GPU

/// Flats of counts have a median above this. Flats of transmissions are 1 or near it.
constexpr float counts_begin = 2;

/// The transmission of a cell. For a dead cell, whose span is 0, it is 0 until it is replaced. `span`: flat -
/// dark.
TANDEM_HOST_DEVICE inline float transmission(float count, float dark, float span) {
  return span != 0 ? (count - dark) / span : 0;
}

/// Where a bin lies between its neighbours: 0 at `before`, 1 at `after`.
TANDEM_HOST_DEVICE inline float share_between(Index bin, Index before, Index after) {
  return static_cast<float>(bin - before) / (after - before);
}
/// The value at that place.
TANDEM_HOST_DEVICE inline float between(float before, float after, float share) {
  return plus_product(before, share, after - before);
}

/// Transmissions below this are raised to it: half a count, of flats or of the air, or a millionth where
/// there are no counts. `air`: mean transmission of the air columns, or their mean count if there are no
/// flats.
TANDEM_HOST_DEVICE inline float transmission_floor(float span, double air, bool counts) {
  return counts ? static_cast<float>(0.5 / (span * air)) : 1e-6f;
}

/// What a view is divided by: `of_first` times the mean of one set of flats plus `of_second` times that of
/// another.
struct FlatMix {
  Index first = 0, second = 0;
  float of_first = 1, of_second = 0;
  TANDEM_HOST_DEVICE bool is_one() const { return of_first == 1 && of_second == 0; }
  /// Span of the mix, from the spans of the two sets.
  TANDEM_HOST_DEVICE float span(float p, float q) const { return plus_product(of_first * p, of_second, q); }
  /// Variance of the logarithm of that span, from the variances of the logarithms of the two.
  TANDEM_HOST_DEVICE float variance(float p, float q, float of_p, float of_q) const {
    const float x = of_first * p, y = of_second * q, both = span(p, q);
    return both > 0 ? plus_product(x * x * of_p, y * y, of_q) / (both * both) : 0;
  }
};

/// What the air columns say about the beam in one view of one row. Without air columns the beam has the
/// transmission 1.
struct Air {
  double mean = 1;      ///< transmission of the air columns; counts if there are no flats
  double variance = 0;  ///< variance of the logarithm of what a datum is divided by, mean over the row
};

/// The beam in the air beside a sample, along the bins of a row in one view.
struct AirLine {
  double mean, slope, place;  ///< the mean where a margin lies, at a bin that may be a fraction
  TANDEM_HOST_DEVICE double at(Index bin) const { return plus_product(mean, slope, bin - place); }
};

/// The good cells of an air margin: how many, what they add up to, the sum of their bins, and the variance of
/// the first sum.
struct AirSums {
  Index good = 0;
  double sum = 0, bins = 0, of_sum = 0;
  /// `photons`: photons of the transmission 1.
  TANDEM_HOST_DEVICE void add(float transmission, Index bin, double photons) {
    ++good;
    sum += transmission;
    bins += bin;
    of_sum += (transmission > 0 ? transmission : 0) / photons;
  }
  TANDEM_HOST_DEVICE double mean() const { return sum / good; }
  TANDEM_HOST_DEVICE double place() const { return bins / good; }
  /// The variance of the logarithm of the mean.
  TANDEM_HOST_DEVICE double variance() const { return of_sum / (sum * sum); }
};

/// The line through the means of two margins.
TANDEM_HOST_DEVICE inline AirLine line_through(const AirSums& left, const AirSums& right) {
  return {left.mean(), (right.mean() - left.mean()) / (right.place() - left.place()), left.place()};
}

TANDEM_HOST_DEVICE inline Air air_of(const AirSums& only) { return {only.mean(), only.variance()}; }

/// The air between two margins. The variance of the line is (1 - t)^2 times that of the one and t^2 times
/// that of the other, a third of both on the average.
TANDEM_HOST_DEVICE inline Air air_of(const AirSums& left, const AirSums& right) {
  return {0.5 * (left.mean() + right.mean()), (left.variance() + right.variance()) / 3};
}

/// The variance of a line integral: 1 / photons of the datum, of its flats (`of_span`) and of its air.
/// `transmission`: the number whose logarithm is taken. @pre the span is not 0
TANDEM_HOST_DEVICE inline double variance_of_log(double transmission, float span, float of_span,
                                                 const Air& air, double photons_a_count) {
  const double one_count = 1 / (span * air.mean);  // as a transmission
  return one_count / (transmission * photons_a_count) + of_span + air.variance;
}

/// The same for a datum that is a line integral already, with so many photons in air. Its transmission has
/// the floor of a count, and a ceiling: line integrals below -1 are no noise of air, and count as -1.
TANDEM_HOST_DEVICE inline double variance_of_line(float y, float photons, double photons_a_count) {
  const double transmission = std::exp(y > -1 ? -double{y} : 1), floor = transmission_floor(photons, 1, true);
  return variance_of_log(transmission > floor ? transmission : floor, photons, 0, {}, photons_a_count);
}

/// The weight by which a solver multiplies the square of a residual, before weights are scaled. `median`: the
/// median of all variances.
TANDEM_HOST_DEVICE inline float weight_of(float variance, float median) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  return variance < infinity && variance + median > 0 ? 1 / (variance + median) : 0;
}

/// The sample of data whose median is taken: of many data every 2nd, or 3rd, ... bin.
struct MedianSamples {
  Index step;
  TANDEM_HOST_DEVICE explicit MedianSamples(Index data) : step(1 + data / (Index{1} << 20)) {}
  /// The first bin of a row, which is counted from the first row of its block.
  TANDEM_HOST_DEVICE Index first(Index view, Index row) const { return (view + row) % step; }
};

// ---- whole frames on a GPU

/// A dead cell, and the bins of its row that it is made of: y[before] + share (y[after] - y[before]).
struct FilledCell {
  int row, bin, before, after;
  float share;
};

/// What turns counts into line integrals. Cells are (row, bin) after binning.
struct CountsToLines {
  PixelType type;
  Shape counts;                                   ///< (view, row, bin) of the file, dense
  Index rows_together, bins_together;             ///< how many of these become one
  std::span<const float> dark;                    ///< dark of each cell
  std::vector<std::span<const float>> spans;      ///< span of each cell, for each set of flats
  std::vector<std::span<const float>> variances;  ///< variances of their logarithms; empty: not needed
  std::vector<FlatMix> mixes;                     ///< mix of the sets for each view
  double photons_a_count = 1;                     ///< photons per count of a cell
  float photons = 0;                              ///< photons in air, if data are line integrals; else 0
  std::span<const char> in_counts;                ///< whether the flats of each row are counts
  bool flats = true;                              ///< whether there are flats; if not, spans are 1
  std::span<const FilledCell> filled;             ///< the dead cells
  Range heeded;                                   ///< the rows of cells that the tally counts
  bool minus_log = true;                          ///< else they stay transmissions
  std::optional<float> full{};                    ///< counts from which on a pixel is saturated
};

/// Counts of what was met on the way, in the heeded rows; `not_finite` in all rows.
struct CountsTally {
  Index repaired = 0;    ///< pixels that are not finite
  Index saturated = 0;   ///< pixels
  Index floored = 0;     ///< transmissions
  Index filled = 0;      ///< dead cells of all views
  Index not_finite = 0;  ///< cells of all rows that are not finite in the end, or whose row of the file has
                         ///< no finite pixel; what came out is then of no use
  float lowest_floor = std::numeric_limits<float>::infinity(), highest_floor = 0;  ///< without dead cells
};

struct CountsKernels {
  /// y (view, row, bin) <- line integrals of counts that lie on the device. Pixels that are not finite are
  /// interpolated from their row of the file. The values are those of the pipeline's steps on the CPU, but
  /// for the last places of the logarithm. Waits for the tally.
  CountsTally (*line_integrals)(const CountsToLines& how, const std::byte* counts, Image<float> y,
                                Stream& stream);
  /// Fills these dead cells in all views of y.
  void (*fill)(std::span<const FilledCell> cells, Image<float> y, Stream& stream);
  /// Divides rows of y by their air: the mean of the good cells in the only one of `margins`, or the line
  /// through the means of two. The air goes to `air` (view, row) on the device. Waits. @returns how many rows
  /// have a mean, or an end of the line, that is not above 0
  Index (*divide_by_air)(const CountsToLines& how, std::span<const Range> margins, Image<float> y, Air* air,
                         Stream& stream);
  /// y <- -log(max(y, floor)), for transmissions that other steps have changed since. `air`: the air of rows
  /// of y, null if nothing was divided by it. If the filled cells have values by now (`mended`), their floors
  /// lie between those of their neighbours; if not, they are left out. Waits. @returns the floors, and how
  /// many values were raised to them
  CountsTally (*logarithms)(const CountsToLines& how, const Air* air, bool mended, Image<float> y,
                            Stream& stream);
  /// Finds the variances of those logarithms before they are taken. They go to `variances`, unless that is
  /// empty; dead cells have infinite ones. Waits. @returns for each row their sum over all views and its bins
  /// `counted`
  std::vector<double> (*variances)(const CountsToLines& how, const Air* air, std::span<const Range> counted,
                                   const Image<float>& y, Image<float> variances, Stream& stream);
  /// Makes weights of variances, in place, of each row or of all rows together: `weight_of`, scaled to the
  /// mean 1.
  void (*weigh)(Image<float> variances, bool each_row, Stream& stream);
  /// y <- c_1 y + c_2 y^2 + ..., in double. Waits. @returns how many are above `most`, dead cells left out
  Index (*polynomial)(const CountsToLines& how, std::span<const double> coefficients, double most,
                      Image<float> y, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const CountsKernels* counts(Device device);

}  // namespace tandem::kernels
