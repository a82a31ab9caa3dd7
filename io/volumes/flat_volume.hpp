#pragma once

// Volumes in one file, with voxels one after the other. Used only within io/.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

/// The head and the tail around the voxels of a flat file. They are made when all slices are there.
struct FlatFrame {
  /// What is known then: the range of integers, and the checksum of each slice.
  struct Known {
    const VolumeFormat& format;
    std::vector<std::uint32_t> checksums;
  };
  Index head_bytes;                                    ///< bytes from the start of the file to the voxels
  std::function<std::string(const Known&)> head;       ///< makes a text of exactly `head_bytes` bytes
  std::function<std::string(const Known&)> tail = {};  ///< makes the bytes behind the voxels; may be empty
};

/// Makes the writer. Many threads put slices in their places, which are known from the start. As in other
/// formats, it can go on with what a killed run left.
std::unique_ptr<VolumeWriter> create_flat_volume(const Creation& creation, FlatFrame frame);

/// A number in scientific notation, always with the same length.
std::string fixed_width(double value);

}  // namespace tandem::io
