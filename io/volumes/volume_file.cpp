#include "volume_file.hpp"

#include <cmath>
#include <cstring>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../files/half.hpp"
#include "../scans/frame_source.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

/// The nearest whole number, and a half rounded away from zero, as std::lround does. There is no call and no
/// branch, so that the loop becomes SIMD. A NaN becomes 0.
int rounded(double level, double top) {
  level = level > 0 ? level : 0;
  level = level < top ? level : top;
  const int whole = static_cast<int>(level);
  return whole + (level - whole >= 0.5 ? 1 : 0);
}

template <class T>
std::vector<std::byte> quantised_as(const VolumeFormat& format, const float* data, Index count,
                                    Clipped* clipped) {
  const double top = full_scale(format.type), low = format.min;
  const double scale = top / (format.max - low);
  std::vector<std::byte> bytes(count * sizeof(T));
  for (Index i = 0; i < count; ++i) {
    const auto stored = static_cast<T>(rounded((data[i] - low) * scale, top));
    std::memcpy(bytes.data() + i * sizeof(T), &stored, sizeof(T));
  }
  for (Index i = 0; clipped && i < count; ++i) {
    clipped->below += data[i] < format.min;
    clipped->above += data[i] > format.max;
  }
  return bytes;
}

}  // namespace

NumberType number_type(VoxelType type) {
  constexpr NumberType types[]{NumberType::float32, NumberType::float16, NumberType::uint16,
                               NumberType::uint8};
  return row_of(types, type);
}

bool is_integer(VoxelType type) { return type == VoxelType::uint16 || type == VoxelType::uint8; }

double full_scale(VoxelType type) { return type == VoxelType::uint16 ? 65535 : 255; }

std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count,
                                 Clipped* clipped) {
  if (format.type == VoxelType::float16) {
    std::vector<std::byte> bytes(count * sizeof(std::uint16_t));
    halves_of(data, count, reinterpret_cast<std::uint16_t*>(bytes.data()));
    return bytes;
  }
  return format.type == VoxelType::uint16 ? quantised_as<std::uint16_t>(format, data, count, clipped)
                                          : quantised_as<std::uint8_t>(format, data, count, clipped);
}

void scale_back(VoxelType type, double min, double max, Index count, float* data) {
  const double step = (max - min) / full_scale(type);
  for (Index i = 0; i < count; ++i) data[i] = static_cast<float>(min + step * data[i]);
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

std::unique_ptr<VolumeWriter> create_volume(const std::filesystem::path& path, Shape shape,
                                            const VolumeFormat& format, const std::string& recipe_json,
                                            Replace replace, const Continuation& continuation) {
  const std::string name = path.string();
  require<FileError>(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, name, ": a volume of ", shape[0], " x ",
                     shape[1], " x ", shape[2], " voxels; at least 1 x 1 x 1 is needed");
  if (is_integer(format.type) && !format.range_follows) require_range(format.min, format.max, name);
  require<SpaceError>(!format.place || format.place->grid.shape() == shape, name,
                      ": its place has another shape than the volume");
  const VolumeKind* kind = volume_kind(path);
  require<FileError>(kind != nullptr, name, ": the ending \"", path.extension().string(),
                     "\" names no format; ", volume_endings(), " is needed");
  require<FileError>(format.compression == Compression::none || kind->packs, name, ": volumes in ",
                     kind->title, " are not compressed; give a name ending in .h5");
  require<FileError>(!format.water || kind->in_hounsfield, name, ": volumes in ", kind->title,
                     " are attenuations, not Hounsfield units; give a name ending in .dcm");
  require<FileError>(kind->stores(format.type), name, ": ", kind->title, " has no numbers of type ",
                     name_of(format.type), "; take another type, or a name ending in .h5");
  return kind->create({path, shape, format, recipe_json, replace, continuation});
}

std::pair<float, float> hounsfield_range(double water) {
  const auto attenuation = [&](double units) { return static_cast<float>(water * (1 + units / hounsfield)); };
  return {attenuation(-32768), attenuation(32767)};
}

void require_range(float min, float max, const std::string& where) {
  require<FileError>(std::isfinite(min) && min < max && std::isfinite(max), where, ": min = ", min,
                     ", max = ", max, "; integers need finite numbers with min < max");
}

}  // namespace tandem::io
