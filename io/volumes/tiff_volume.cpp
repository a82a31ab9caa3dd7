// Volumes as TIFF, a file for each slice.

#include "../files/tiff.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

void write_tiff_slice(PlainFile& file, const SliceOfVolume& of, const void* stored) {
  const std::optional<VolumePlace>& place = of.format.place;
  std::optional<std::array<double, 2>> pixels_per_cm;
  if (place && place->in_mm) pixels_per_cm = {10 / place->grid.pitch[0], 10 / place->grid.pitch[1]};
  write_tiff(file, number_type(of.format.type), of.shape[1], of.shape[2], stored,
             slice_description(of.shape, of.format, of.slice, of.recipe), pixels_per_cm);
}

const SliceFile tiff_slice{.write = write_tiff_slice,
                           .description = tiff_description,
                           .open = [](const fs::path& path) -> std::unique_ptr<ImageFile> {
                             return std::make_unique<TiffFile>(path);
                           }};

}  // namespace

VolumeKind tiff_kind() {
  return {.name = "tiff",
          .title = "TIFF",
          .endings = {".tif", ".tiff"},
          .types = {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8},
          .parts = Parts::slices,
          .slice_file = &tiff_slice,
          .create = create_slice_files,
          .open = [](const fs::path& path, bool) { return open_slice_files(path, tiff_slice); },
          .files = slice_files};
}

}  // namespace tandem::io
