#include "volume_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "../core/error.hpp"
#include "frame_source.hpp"
#include "half.hpp"
#include "journal.hpp"
#include "tiff_manifest.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

/// The nearest whole number, of two the one farther from zero, as std::lround gives it. It is written without
/// a call and without a branch, so that the loop becomes SIMD. A NaN becomes 0.
int rounded(double level, double top) {
  level = level > 0 ? level : 0;
  level = level < top ? level : top;
  const int whole = static_cast<int>(level);
  return whole + (level - whole >= 0.5 ? 1 : 0);
}

template <class T>
std::vector<std::byte> quantised_as(const VolumeFormat& format, const float* data, Index count) {
  const double top = full_scale(format.type), low = format.min;
  const double scale = top / (static_cast<double>(format.max) - low);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(T));
  for (Index i = 0; i < count; ++i) {
    const auto stored = static_cast<T>(rounded((data[i] - low) * scale, top));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &stored, sizeof(T));
  }
  return bytes;
}

}  // namespace

NumberType number_type(VoxelType type) {
  switch (type) {
    case VoxelType::uint8:
      return NumberType::uint8;
    case VoxelType::uint16:
      return NumberType::uint16;
    case VoxelType::float16:
      return NumberType::float16;
    case VoxelType::float32:
      break;
  }
  return NumberType::float32;
}

bool is_integer(VoxelType type) { return type == VoxelType::uint16 || type == VoxelType::uint8; }

double full_scale(VoxelType type) { return type == VoxelType::uint16 ? 65535 : 255; }

std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count) {
  if (format.type == VoxelType::float16) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(std::uint16_t));
    halves_of(data, count, reinterpret_cast<std::uint16_t*>(bytes.data()));
    return bytes;
  }
  return format.type == VoxelType::uint16 ? quantised_as<std::uint16_t>(format, data, count)
                                          : quantised_as<std::uint8_t>(format, data, count);
}

void scale_back(VoxelType type, double min, double max, Index count, float* data) {
  const double step = (max - min) / full_scale(type);
  for (Index i = 0; i < count; ++i) data[i] = static_cast<float>(min + step * static_cast<double>(data[i]));
}

void from_stored(const VolumeFormat& format, const std::byte* stored, Index count, float* data) {
  if (format.type == VoxelType::float16)
    return floats_of(reinterpret_cast<const std::uint16_t*>(stored), count, data);
  const PixelType type = format.type == VoxelType::uint16  ? PixelType::uint16
                         : format.type == VoxelType::uint8 ? PixelType::uint8
                                                           : PixelType::float32;
  to_float(type, stored, count, reinterpret_cast<std::byte*>(data));
  if (is_integer(format.type)) scale_back(format.type, format.min, format.max, count, data);
}

std::optional<VolumeKind> volume_kind(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  if (ending == ".tif" || ending == ".tiff") return VolumeKind::tiff;
  if (ending == ".h5" || ending == ".hdf5" || ending == ".hdf" || ending == ".nxs") return VolumeKind::hdf5;
  return std::nullopt;
}

std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json,
                                            Replace replace, const Continuation& continuation) {
  require<FileError>(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, path.string(), ": a volume of ", shape[0],
                     " x ", shape[1], " x ", shape[2], " voxels; at least 1 x 1 x 1 is needed");
  require<FileError>(!is_integer(format.type) ||
                         (std::isfinite(format.min) && format.min < format.max && std::isfinite(format.max)),
                     path.string(), ": min = ", format.min, ", max = ", format.max,
                     "; integers need finite numbers with min < max");
  require<FileError>(format.compression == Compression::none || volume_kind(path) == VolumeKind::hdf5,
                     path.string(), ": only volumes in HDF5 are compressed; give a name ending in .h5");
  require<SpaceError>(!format.place || format.place->grid.shape() == shape, path.string(),
                      ": its place has another shape than the volume");
  const std::optional<VolumeKind> kind = volume_kind(path);
  require<FileError>(kind.has_value(), path.string(), ": the ending \"", path.extension().string(),
                     "\" names no format; .h5, .hdf5, .hdf, .nxs, .tif or .tiff is needed");
  if (kind == VolumeKind::hdf5)
    return create_hdf5_volume(begin(path, replace, recipe_json, continuation), shape, format);
  return create_tiff_volume(path, begin(manifest_path(path), replace, recipe_json, continuation), shape,
                            format, replace);
}

}  // namespace tandem::io
