#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "../geometry/scan.hpp"
#include "projector.hpp"

namespace tandem {

/// Which rows of data a volume with wide voxels serves, if rows are slices: `together` rows are one of its
/// slices, and row 0 of what is at hand is row `first` of those that it begins with.
struct RowsOfSlices {
  Index first = 0, together = 1;
};

/// A volume (slice, y, x) whose voxels may be wider than the bins of the scans whose rays pass through it. It
/// is kept as far as it is not zero. Any thread may use it, on any device.
class WideVolume {
 public:
  WideVolume(const VolumeGrid& grid, const Array& volume);

  /// Line integrals (view, row, bin) along the rays of a scan. If rows are slices, row k of the scan has row
  /// (first + k) / together of them.
  struct Rays {
    Array lines;
    RowsOfSlices rows;
  };
  /// Empty if the volume is zero wherever these rays pass.
  std::optional<Rays> along(const Scan& scan, RowsOfSlices rows, Stream& stream) const;
  /// The volume on a device, and its grid.
  ConstVectorView on(Device device) const;
  const VolumeGrid& grid() const { return grid_; }
  double bytes() const { return sizeof(float) * static_cast<double>(volume_->size()); }

 private:
  VolumeGrid grid_;  ///< a part of that of the volume, with all slices
  Range slices_;     ///< slices that are not zero
  std::shared_ptr<const Array> volume_;
  mutable std::mutex mutex_;
  mutable std::map<Device, std::unique_ptr<const Array>> there_;
};

/// Line integrals of some slices of a volume, on the device of `x`. If rows of the scan are slices, these are
/// the rows.
Array line_integrals_of(ConstVectorView x, const VolumeGrid& grid, Range slices, Scan scan, Stream& stream);

}  // namespace tandem
