#include "slab_writer.hpp"

#include "../core/error.hpp"

namespace tandem::io {

void SlabWriter::write(Range slices, const float* data) {
  require<FileError>(slices.first == next_ && slices.first < slices.last && slices.last <= shape_[0], name_,
                     ": slices ", slices.first, ":", slices.last, " came; ", next_, ":", shape_[0],
                     " are due");
  const Index slice = shape_[1] * shape_[2];
  for (; next_ < slices.last; ++next_, data += slice) {
    if (format_.type == VoxelType::float32)
      write_slice(next_, data);
    else
      write_slice(next_, quantised(format_, data, slice).data());
  }
}

void SlabWriter::finish(const std::string& report_json) {
  require<FileError>(next_ == shape_[0], name_, ": has ", next_, " of ", shape_[0],
                     " slices; it is not finished");
  complete(report_json);
}

Index SlabWriter::slice_bytes() const {
  return shape_[1] * shape_[2] * static_cast<Index>(bytes_of(pixel_type(format_.type)));
}

double SlabWriter::bytes() const {
  return static_cast<double>(shape_[0]) * static_cast<double>(slice_bytes());
}

}  // namespace tandem::io
