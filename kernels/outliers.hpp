#pragma once

#include <cstddef>

#include "../core/array.hpp"
#include "../core/host_device.hpp"
#include "../core/pixel_type.hpp"

namespace tandem::kernels {

/// How a window goes on beyond the ends of a row.
enum class Border {
  mirror,   ///< the row goes on as in a mirror at the middle of its last bin
  reflect,  ///< the row goes on as in a mirror at the end of its last bin
  own       ///< the bin in the middle of the window stands for bins that are not there
};

/// The bin that stands for bin `b` of `count`, in the window around bin `centre`.
TANDEM_HOST_DEVICE inline Index bin_within(Index b, Index count, Index centre, Border border) {
  if (0 <= b && b < count) return b;
  if (border == Border::own) return centre;
  if (border == Border::reflect) {
    const Index k = ((b % (2 * count)) + 2 * count) % (2 * count);
    return k < count ? k : 2 * count - 1 - k;
  }
  const Index period = count > 1 ? 2 * (count - 1) : 1, k = (b < 0 ? -b : b) % period;
  return k < period - k ? k : period - k;
}

struct OutlierRule {
  Index size;         ///< size of the window along each of its axes
  float threshold;    ///< least distance of an outlier from the median
  bool dark = false;  ///< whether values below the median are outliers too
  Border border = Border::mirror;
};

/// Pixels of frames on a GPU that are far from the median of their window become that median.
struct FrameOutliers {
  PixelType type;
  Shape counts;  ///< (frame, row, bin), dense
  OutlierRule rule;
  Index frames, rows;  ///< frames and rows of the window; it has `rule.size` bins
  Range heeded;        ///< rows in which replaced pixels count
  Index used_bins;  ///< bins of each row in use: the bins behind them are in no window, and are not written
};

struct OutlierKernels {
  /// `to` <- `from` without outliers, both as `how` says. Outliers are those that `replace_outliers` of the
  /// pipeline finds, if all counts are finite. Counts that are not finite stay. Waits. @returns how many it
  /// replaced
  Index (*replace)(const FrameOutliers& how, const std::byte* from, std::byte* to, Stream& stream);
};

/// Null for the CPU, where the steps of the pipeline do this. @throws DeviceError if the build lacks the
/// backend
const OutlierKernels* outliers(Device device);

}  // namespace tandem::kernels
