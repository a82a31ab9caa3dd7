#include "slab_writer.hpp"

#include <algorithm>

#include "../core/error.hpp"
#include "../core/parallel.hpp"

namespace tandem::io {

namespace {

bool is_infinite(std::uint16_t half) { return (half & 0x7fff) == 0x7c00; }

}  // namespace

SlabWriter::SlabWriter(std::string name, Shape shape, const VolumeFormat& format)
    : name_(std::move(name)), shape_(shape), format_(format), taken_(static_cast<std::size_t>(shape[0])) {}

/// Notes that these slices have come. @throws FileError if one of them came before
void SlabWriter::take(Range slices) {
  require<FileError>(0 <= slices.first && slices.first < slices.last && slices.last <= shape_[0], name_,
                     ": slices ", slices.first, ":", slices.last, " came; the volume has 0:", shape_[0]);
  const std::lock_guard lock(mutex_);
  const auto first = taken_.begin() + slices.first, last = taken_.begin() + slices.last;
  const auto twice = std::find(first, last, true);
  require<FileError>(twice == last, name_, ": slice ", twice - taken_.begin(), " came twice");
  std::fill(first, last, true);
}

void SlabWriter::write(Range slices, const float* data) {
  take(slices);
  const Index area = shape_[1] * shape_[2];
  parallel_for(slices.size(), [&](Index k) {
    const float* slice = data + k * area;
    if (format_.type == VoxelType::float32)
      write_slice(slices.first + k, slice);
    else
      write_slice(slices.first + k, encoded(slices.first + k, slice).data());
    ++written_;
  });
}

/// @throws GeometryError for a voxel that the type cannot hold
std::vector<std::byte> SlabWriter::encoded(Index slice, const float* data) const {
  const Index area = shape_[1] * shape_[2];
  std::vector<std::byte> bytes = quantised(format_, data, area);
  if (format_.type != VoxelType::float16) return bytes;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(bytes.data());
  if (std::none_of(halves, halves + area, is_infinite)) return bytes;
  const float voxel = data[std::find_if(halves, halves + area, is_infinite) - halves];
  throw GeometryError(name_ + ": slice " + std::to_string(slice) + ": a voxel is " + std::to_string(voxel) +
                      " " + format_.unit() + "; float16 holds 65504 at most, give --dtype float32");
}

void SlabWriter::finish(const std::string& report_json) {
  require<FileError>(written_ == shape_[0], name_, ": has ", written_, " of ", shape_[0],
                     " slices; it is not finished");
  complete(report_json);
}

Index SlabWriter::slice_bytes() const { return shape_[1] * shape_[2] * bytes_of(number_type(format_.type)); }

double SlabWriter::bytes() const {
  return static_cast<double>(shape_[0]) * static_cast<double>(slice_bytes());
}

}  // namespace tandem::io
