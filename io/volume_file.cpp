#include "tandem/io/volume_file.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>

#include "tandem/core/error.hpp"
#include "tandem/io/frame_source.hpp"
#include "tandem/io/hdf5.hpp"
#include "tandem/io/volume_format.hpp"

namespace tandem::io {

namespace {

template <class T>
std::vector<std::byte> quantised_as(const VolumeFormat& format, const float* data, Index count) {
  const double top = full_scale(format.type), low = format.min;
  const double scale = top / (static_cast<double>(format.max) - low);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(T));
  for (Index i = 0; i < count; ++i) {
    const double level = std::clamp((data[i] - low) * scale, 0.0, top);
    const T stored = std::isnan(level) ? T{0} : static_cast<T>(std::lround(level));
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &stored, sizeof(T));
  }
  return bytes;
}

}  // namespace

PixelType pixel_type(VoxelType type) {
  if (type == VoxelType::float32) return PixelType::float32;
  return type == VoxelType::uint16 ? PixelType::uint16 : PixelType::uint8;
}

double full_scale(VoxelType type) { return type == VoxelType::uint16 ? 65535 : 255; }

std::vector<std::byte> quantised(const VolumeFormat& format, const float* data, Index count) {
  return format.type == VoxelType::uint16 ? quantised_as<std::uint16_t>(format, data, count)
                                          : quantised_as<std::uint8_t>(format, data, count);
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
                                            const VolumeFormat& format, const std::string& recipe_json) {
  require<FileError>(shape[0] > 0 && shape[1] > 0 && shape[2] > 0, path.string(), ": a volume of ", shape[0],
                     " x ", shape[1], " x ", shape[2], " voxels; at least 1 x 1 x 1 is needed");
  require<FileError>(format.type == VoxelType::float32 ||
                         (std::isfinite(format.min) && format.min < format.max && std::isfinite(format.max)),
                     path.string(), ": min = ", format.min, ", max = ", format.max,
                     "; integers need finite numbers with min < max");
  const std::optional<VolumeKind> kind = volume_kind(path);
  require<FileError>(kind.has_value(), path.string(), ": the ending \"", path.extension().string(),
                     "\" names no format; .h5, .hdf5, .hdf, .nxs, .tif or .tiff is needed");
  return kind == VolumeKind::tiff ? create_tiff_volume(path, shape, format, recipe_json)
                                  : create_hdf5_volume(path, shape, format, recipe_json);
}

struct VolumeReader::Impl {
  hdf5::DataSet data;
  Shape shape;
  std::optional<double> pitch_mm;
  std::string unit;
  bool complete, reconstruction;
  double offset, scale;  // value = offset + scale * stored
};

VolumeReader::VolumeReader(const std::filesystem::path& path) {
  require<FileError>(std::filesystem::exists(path), path.string(), ": no such file");
  require<FileError>(!std::filesystem::is_directory(path) && hdf5::is_hdf5(path), path.string(),
                     ": is no HDF5 file; a volume in /exchange/data (z, y, x) is needed");
  const hdf5::File file = hdf5::File::open(path);
  hdf5::DataSet data = file.data_set("/exchange/data");
  const std::vector<Index>& n = data.shape();
  require<FileError>(n.size() == 3 && n[0] > 0 && n[1] > 0 && n[2] > 0, data.where(),
                     ": is no volume; three axes (z, y, x) of at least 1 voxel are needed");
  const std::string axes = data.text("axes").value_or("z:y:x");
  require<FileError>(axes.find("theta") == std::string::npos, data.where(), ": axes = \"", axes,
                     "\": is a scan; a volume (z, y, x) is needed");
  data.require_stored();

  double scale = 1;
  const std::optional<double> low = data.number("min"), high = data.number("max");
  if (low && high && data.pixel_type() == PixelType::uint8)
    scale = (*high - *low) / full_scale(VoxelType::uint8);
  if (low && high && data.pixel_type() == PixelType::uint16)
    scale = (*high - *low) / full_scale(VoxelType::uint16);
  const double offset = scale == 1 ? 0 : low.value_or(0);
  std::vector<std::string> notes;
  const std::optional<double> pitch = length_mm(file, "/process/tandem/pitch", "mm", notes);
  const std::string unit = data.text("units").value_or("1/pixel");
  const bool complete = data.number("complete").value_or(1) != 0;
  const bool reconstruction = data.text("description") == "ReconData";
  const Shape shape{n[0], n[1], n[2]};
  impl_ = std::make_unique<Impl>(
      Impl{std::move(data), shape, pitch, unit, complete, reconstruction, offset, scale});
}

VolumeReader::~VolumeReader() = default;
Shape VolumeReader::shape() const { return impl_->shape; }
std::optional<double> VolumeReader::pitch_mm() const { return impl_->pitch_mm; }
std::string VolumeReader::unit() const { return impl_->unit; }
bool VolumeReader::complete() const { return impl_->complete; }
bool VolumeReader::is_reconstruction() const { return impl_->reconstruction; }

void VolumeReader::read(Range slices, float* data) {
  const Shape& n = impl_->shape;
  require<FileError>(0 <= slices.first && slices.first <= slices.last && slices.last <= n[0],
                     impl_->data.where(), ": slices ", slices.first, ":", slices.last,
                     " are wanted; there are 0:", n[0]);
  if (slices.size() == 0) return;
  impl_->data.read(PixelType::float32, std::vector<Range>{slices, {0, n[1]}, {0, n[2]}}, data);
  if (impl_->scale == 1) return;
  for (Index i = 0; i < slices.size() * n[1] * n[2]; ++i)
    data[i] = static_cast<float>(impl_->offset + impl_->scale * static_cast<double>(data[i]));
}

}  // namespace tandem::io
