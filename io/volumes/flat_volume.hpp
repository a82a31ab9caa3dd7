#pragma once

// Volumes in one file, with voxels one after the other. Used only within io/.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

/// What the head and the tail around the voxels of a flat file are made from, when all slices are there: then
/// the range of integers is known, and the checksum of each slice.
struct FlatFacts {
  Shape shape;
  const VolumeFormat& format;
  const std::string& recipe;
  std::vector<std::uint32_t> checksums = {};
};
using FlatText = std::string (*)(const FlatFacts&);

/// Makes the writer. A head always has the same length; there may be no tail. Many threads put slices in
/// their places, which are known from the start. As in other formats, it can go on with what a killed run
/// left.
std::unique_ptr<VolumeWriter> create_flat_volume(const Creation& creation, FlatText head,
                                                 FlatText tail = nullptr);

/// A number in scientific notation, always with the same length.
std::string fixed_width(double value);

}  // namespace tandem::io
