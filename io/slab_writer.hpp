#pragma once

// Used only within io/.

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "volume_format.hpp"

namespace tandem::io {

/// Writes slabs, each slice on a thread of the pool. The formats differ in where a slice goes.
class SlabWriter : public VolumeWriter {
 public:
  SlabWriter(std::string name, Shape shape, const VolumeFormat& format);

  void write(Range slices, const float* data) final;
  void finish(const std::string& report_json) final;

 protected:
  /// May be called by several threads at once, for different slices.
  virtual void write_slice(Index slice, const void* stored) = 0;
  virtual void complete(const std::string& report_json) = 0;
  const Shape& shape() const { return shape_; }
  const VolumeFormat& format() const { return format_; }
  double bytes() const;       ///< of all voxels
  Index slice_bytes() const;  ///< of one slice, as it is stored

 private:
  void take(Range slices);
  std::vector<std::byte> encoded(Index slice, const float* data) const;

  std::string name_;
  Shape shape_;
  VolumeFormat format_;
  std::mutex mutex_;
  std::vector<bool> taken_;         // slices that came
  std::atomic<Index> written_ = 0;  // slices that are in their files
};

}  // namespace tandem::io
