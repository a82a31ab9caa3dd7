#include <algorithm>
#include <array>

#include "../../core/names.hpp"
#include "../files/text.hpp"
#include "volume_kind.hpp"

/// One line for each kind. A function in a file of its own, such as nrrd_kind, returns the VolumeKind.
#define TANDEM_VOLUME_KINDS(KIND) \
  KIND(hdf5)                      \
  KIND(tiff)                      \
  KIND(big_tiff)                  \
  KIND(nrrd)                      \
  KIND(meta_image)                \
  KIND(ome_zarr)                  \
  KIND(dicom)

namespace tandem::io {

#define TANDEM_DECLARE(name) VolumeKind name##_kind();
TANDEM_VOLUME_KINDS(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const VolumeKind> volume_kinds() {
#define TANDEM_MAKE(name) name##_kind(),
  static const std::array all{TANDEM_VOLUME_KINDS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

bool VolumeKind::stores(VoxelType type) const {
  return std::find(types.begin(), types.end(), type) != types.end();
}

const VolumeKind* volume_kind(const std::filesystem::path& path) {
  const std::string ending = in_lower_case(path.extension().string());
  for (const VolumeKind& kind : volume_kinds())
    if (std::find(kind.endings.begin(), kind.endings.end(), ending) != kind.endings.end()) return &kind;
  return nullptr;
}

bool is_volume_alone(const std::filesystem::path& path) {
  return std::ranges::any_of(volume_kinds(),
                             [&](const VolumeKind& kind) { return kind.alone && kind.alone(path); });
}

const VolumeKind* volume_kind_named(std::string_view name) {
  for (const VolumeKind& kind : volume_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

std::string volume_endings() {
  std::vector<std::string> endings;
  for (const VolumeKind& kind : volume_kinds())
    endings.insert(endings.end(), kind.endings.begin(), kind.endings.end());
  return alternatives(endings);
}

bool is_hdf5_name(const std::filesystem::path& path) {
  const VolumeKind* kind = volume_kind(path);
  return kind != nullptr && kind->name == "h5";
}

const char* name_of(VoxelType type) {
  constexpr std::array names{"float32", "float16", "uint16", "uint8"};
  return row_of(names, type);
}

Index bytes_of(VoxelType type) { return type == VoxelType::float32 ? 4 : type == VoxelType::uint8 ? 1 : 2; }

const char* name_of(Compression compression) {
  constexpr std::array names{"none", "zstd", "blosc"};
  return row_of(names, compression);
}

}  // namespace tandem::io
