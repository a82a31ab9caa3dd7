// Reading an OME-Zarr volume that tandem wrote: its finest level.

#include "../../core/error.hpp"
#include "../files/input_file.hpp"
#include "../files/text.hpp"
#include "../files/text_file.hpp"
#include "../hdf5/packing.hpp"
#include "../scans/frame_source.hpp"
#include "ome_zarr_text.hpp"
#include "tiff_part.hpp"
#include "volume_format.hpp"

namespace tandem::io {

namespace {

class ZarrSource : public VolumeSource {
 public:
  ZarrSource(const std::filesystem::path& folder, const std::string& attributes) : folder_(folder) {
    where = folder.string();
    const std::string facts = zarr_text::facts_in(attributes);
    require<FileError>(!facts.empty(), where, ": ", not_finished);
    const TiffPart said = tiff_part_of(facts, folder);
    shape = said.shape, place = said.place;
    unit = said.facts.text("unit"), recipe = said.facts.text("recipe");
    min = said.facts.number("min"), max = said.facts.number("max");
    reconstruction = true;
    for (const VoxelType known :
         {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8})
      if (said.facts.text("type") == name_of(number_type(known))) format_.type = known;
    for (const Compression known : {Compression::none, Compression::zstd, Compression::blosc})
      if (said.facts.number("compression") == static_cast<int>(known)) format_.compression = known;
    is_float16 = format_.type == VoxelType::float16;
    if (format_.type == VoxelType::uint8) type = PixelType::uint8;
    if (format_.type == VoxelType::uint16) type = PixelType::uint16;
  }

  void read(Range slices, float* stored) override {
    const Index pixels = shape[1] * shape[2];
    for (Index z = slices.first; z < slices.last; ++z, stored += pixels) {
      const std::vector<std::byte> numbers = slice(z);
      if (is_float16)
        from_stored(format_, numbers.data(), pixels, stored);
      else
        to_float(type, numbers.data(), pixels, reinterpret_cast<std::byte*>(stored));
    }
  }

 private:
  std::vector<std::byte> slice(Index z) const {
    const std::filesystem::path path = folder_ / "0" / std::to_string(z) / "0/0";
    const Index each = bytes_of(number_type(format_.type)), bytes = shape[1] * shape[2] * each;
    std::error_code fault;
    const std::uintmax_t size = std::filesystem::file_size(path, fault);
    require<FileError>(!fault, path.string(), ": is not there; make the volume again");
    std::vector<std::byte> stored(static_cast<std::size_t>(size));
    InputFile(path, path.string()).read(0, static_cast<Index>(size), stored.data());
    if (format_.compression != Compression::none) stored = unpacked(format_.compression, each, stored, bytes);
    require<FileError>(static_cast<Index>(stored.size()) == bytes, path.string(), ": is not a slice of ",
                       bytes, " bytes; the file is damaged");
    return stored;
  }

  std::filesystem::path folder_;
  VolumeFormat format_;
};

}  // namespace

std::unique_ptr<VolumeSource> open_ome_zarr(const std::filesystem::path& path, bool) {
  const std::filesystem::path attributes = path / ".zattrs";
  std::error_code fault;
  if (!std::filesystem::is_regular_file(attributes, fault)) return nullptr;
  const std::string text = text_of_regular_file(attributes, "a Zarr");
  if (!zarr_text::is_ours(text)) return nullptr;
  return std::make_unique<ZarrSource>(path, text);
}

}  // namespace tandem::io
