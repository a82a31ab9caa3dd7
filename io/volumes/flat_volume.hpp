#pragma once

// Volumes in one file, voxels one after the other. Used only within io/.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

/// What stands around the voxels of such a file, made when all slices are there.
struct FlatFrame {
  /// What is known by then: the range of integers, and the checksum of each slice.
  struct Known {
    const VolumeFormat& format;
    std::vector<std::uint32_t> checksums;
  };
  Index head_bytes;                                    ///< from the start of the file to the voxels
  std::function<std::string(const Known&)> head;       ///< exactly as long
  std::function<std::string(const Known&)> tail = {};  ///< behind the voxels; may be empty
};

/// Many threads put slices in their places, which are known from the start. What a killed run left is gone on
/// with as in other formats.
std::unique_ptr<VolumeWriter> create_flat_volume(const Creation& creation, FlatFrame frame);

/// A number in scientific notation, always as long.
std::string fixed_width(double value);

}  // namespace tandem::io
