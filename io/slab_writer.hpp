#pragma once

// Used only within io/.

#include <string>

#include "volume_format.hpp"

namespace tandem::io {

/// Writes slabs in their order. The two formats differ in where a slice goes.
class SlabWriter : public VolumeWriter {
 public:
  SlabWriter(std::string name, Shape shape, const VolumeFormat& format)
      : name_(std::move(name)), shape_(shape), format_(format) {}

  void write(Range slices, const float* data) final;
  void finish(const std::string& report_json) final;

 protected:
  virtual void write_slice(Index slice, const void* stored) = 0;
  virtual void complete(const std::string& report_json) = 0;
  const Shape& shape() const { return shape_; }
  const VolumeFormat& format() const { return format_; }
  double bytes() const;       ///< of all voxels
  Index slice_bytes() const;  ///< of one slice, as it is stored

 private:
  std::string name_;
  Shape shape_;
  VolumeFormat format_;
  Index next_ = 0;
};

}  // namespace tandem::io
