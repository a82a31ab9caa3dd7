#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../core/error.hpp"
#include "../files/checksum.hpp"
#include "../files/half.hpp"
#include "../files/input_file.hpp"
#include "../hdf5/hdf5.hpp"
#include "../hdf5/rehearsal.hpp"
#include "../scans/frame_source.hpp"
#include "../scans/recorded.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

class Hdf5Source : public VolumeSource {
 public:
  explicit Hdf5Source(hdf5::DataSet data) : data_(std::move(data)) {}

  void read(Range slices, float* stored) override {
    require<FileError>(lacks.empty(), lacks);
    const std::size_t area = shape[1] * shape[2];
    const std::size_t slice_bytes = area * bytes_of(type);
    std::vector<std::byte> bytes(type == PixelType::float32 ? 0 : slices.size() * slice_bytes);
    std::byte* own = bytes.empty() ? reinterpret_cast<std::byte*>(stored) : bytes.data();
    data_.read(type, std::vector<Range>{slices, {0, shape[1]}, {0, shape[2]}}, own);
    for (Index k = slices.first; !checksums.empty() && k < slices.last; ++k)
      require<FileError>(
          checksums[k] == stored_checksum(own + (k - slices.first) * slice_bytes, shape[1] * shape[2]), where,
          ": slice ", k, " does not have the checksum that it was written with; the file is damaged");
    if (!bytes.empty())
      to_float(type, own, slices.size() * shape[1] * shape[2], reinterpret_cast<std::byte*>(stored));
  }

  void read_part(std::size_t, Index slice, Range y, Range x, std::byte* out) const override {
    require<FileError>(lacks.empty(), lacks);
    data_.read(type, std::vector<Range>{{slice, slice + 1}, y, x}, out);
  }
  std::size_t decoded_bytes() const override { return data_.decoded_bytes(); }

  std::string lacks;                     ///< why an incomplete volume cannot be read; empty if it can
  std::vector<std::uint32_t> checksums;  ///< checksums of the slices as they are stored; may be empty

 private:
  hdf5::DataSet data_;
};

class ArraySource final : public VolumeSource {
 public:
  explicit ArraySource(const float* voxels) : voxels_(voxels) {}
  void read_part(std::size_t, Index slice, Range y, Range x, std::byte* out) const override {
    const auto line = x.size() * sizeof(float);
    for (Index row = y.first; row < y.last; ++row, out += line)
      std::memcpy(out, voxels_ + (slice * shape[1] + row) * shape[2] + x.first, line);
  }

 private:
  const float* voxels_;
};

/// The numbers of a data set of /process/tandem; empty if there are none, or more than a place has.
std::vector<double> few_numbers(const hdf5::File& file, const std::string& name) {
  const std::optional<hdf5::DataSet> found = file.find("/process/tandem/" + name);
  return found && found->size() <= 6 ? found->numbers() : std::vector<double>{};
}

/// Finds the place of a volume. The first volumes of tandem had one pitch, and said nothing else about their
/// place.
void find_place(const hdf5::File& file, VolumeSource& volume) {
  PlaceNumbers numbers;
  for (const char* name : {"pitch", "centre", "full_shape", "region"})
    numbers[name] = few_numbers(file, name);
  std::vector<std::string> notes;
  if (numbers["pitch"].size() == 1) volume.pitch_mm = length_mm(file, "/process/tandem/pitch", "mm", notes);
  if (numbers["pitch"].size() <= 1) return;
  const std::string where = file.name() + ": /process/tandem";
  const std::string unit = file.data_set("/process/tandem/pitch").text("units").value_or("");
  require<FileError>(unit == "mm" || unit == "bin", where, "/pitch: units = \"", unit,
                     "\"; \"mm\" or \"bin\" is needed");
  volume.place = place_of(numbers, unit == "mm", volume.shape, where);
}

/// The voxel, in words, at a position in the order (z, y, x).
std::string voxel_text(Index at, const Shape& n, Index first_slice) {
  std::string text = "voxel (" + std::to_string(first_slice + at / (n[1] * n[2])) + ", ";
  return text + std::to_string(at / n[2] % n[1]) + ", " + std::to_string(at % n[2]) + ")";
}

void require_other_than_cil(const hdf5::File& file) {
  const auto cil = file.find("/entry1/tomo_entry/data/data");
  require<FileError>(file.has("/exchange/data") || !cil || cil->text("data_type") != "ImageData", file.name(),
                     ": is a volume of CIL (NEXUSDataWriter), which is not read; write it by its TIFFWriter");
}

}  // namespace

std::unique_ptr<VolumeSource> open_hdf5_volume(const std::filesystem::path& path, bool any_external) {
  const hdf5::File file = hdf5::File::open(path, any_external);
  require_other_than_cil(file);
  hdf5::DataSet data = file.data_set("/exchange/data");
  const std::vector<Index> n = data.shape();
  require<FileError>(n.size() == 3 && n[0] > 0 && n[1] > 0 && n[2] > 0, data.where(),
                     ": is no volume; three axes (z, y, x) of at least 1 voxel are needed");
  const std::string axes = data.text("axes").value_or("z:y:x");
  require<FileError>(axes.find("theta") == std::string::npos, data.where(), ": axes = \"", axes,
                     "\": is a scan; a volume (z, y, x) is needed");
  const bool complete = data.number("complete").value_or(1) != 0;
  std::string lacks;
  try {
    data.require_stored();
  } catch (const FileError& error) {
    if (complete) throw;
    lacks = error.what();
  }
  const std::string where = data.where(), unit = data.text("units").value_or("1/pixel");
  const PixelType type = data.pixel_type();
  const bool is_float16 = data.is_float16();
  const bool reconstruction = data.text("description") == "ReconData";
  const std::optional<double> min = data.number("min"), max = data.number("max");

  auto volume = std::make_unique<Hdf5Source>(std::move(data));
  volume->where = where;
  volume->lacks = lacks;
  volume->shape = {n[0], n[1], n[2]};
  volume->type = type;
  volume->is_float16 = is_float16;
  volume->unit = unit;
  volume->reconstruction = reconstruction;
  volume->min = min, volume->max = max;
  volume->recipe = file.text("/process/tandem/recipe").value_or("");
  if (!complete) volume->missing = not_finished;
  if (const auto sums = file.find(checksums_path); complete && sums && sums->size() == n[0])
    for (const double sum : sums->numbers()) volume->checksums.push_back(static_cast<std::uint32_t>(sum));
  find_place(file, *volume);
  return volume;
}

VolumeKind hdf5_kind() {
  const auto open = [](const std::filesystem::path& path,
                       bool any_external) -> std::unique_ptr<VolumeSource> {
    std::error_code fault;
    if (!std::filesystem::is_regular_file(path, fault) || !hdf5::is_hdf5(path)) return nullptr;
    return rehearsed(path, [&] { return open_hdf5_volume(path, any_external); });
  };
  return {.name = "h5",
          .title = "HDF5",
          .endings = {".h5", ".hdf5", ".hdf", ".nxs"},
          .types = {VoxelType::float32, VoxelType::float16, VoxelType::uint16, VoxelType::uint8},
          .packs = true,
          .parts = Parts::files,
          .create = create_hdf5_volume,
          .open = open};
}

std::uint32_t VolumeSource::stored_checksum(const std::byte* numbers, Index count) const {
  if (!is_float16) return checksum(numbers, count * bytes_of(type));
  std::vector<std::uint16_t> halves(count);
  halves_of(reinterpret_cast<const float*>(numbers), count, halves.data());
  return checksum(halves.data(), halves.size() * sizeof halves[0]);
}

VolumeReader::VolumeReader(const std::filesystem::path& path, bool any_external) {
  for (const VolumeKind& kind : volume_kinds()) {
    if (is_special(path) || kind.open == nullptr) continue;
    kind_ = &kind;
    if ((source_ = kind.open(path, any_external))) break;
  }
  if (!source_) {
    std::error_code fault;
    if (!std::filesystem::is_directory(path, fault)) require_regular_file(path);
    require<FileError>(false, path.string(),
                       ": is no HDF5 file, no TIFF volume of tandem's, and no NRRD, MetaImage or Zarr; a "
                       "volume (z, y, x) is needed");
  }
  if (source_->place && source_->place->in_mm) source_->pitch_mm = source_->place->grid.pitch[0];
  const std::optional<double>&min = source_->min, &max = source_->max;
  if (source_->type != PixelType::float32 && min && max)
    require<FileError>(std::isfinite(*min) && std::isfinite(*max) && *min < *max, source_->where,
                       ": min = ", *min, ", max = ", *max, "; finite numbers with min < max are needed");
}

VolumeReader::VolumeReader(const float* voxels, Shape shape, std::optional<VolumePlace> place)
    : source_(std::make_unique<ArraySource>(voxels)) {
  source_->where = "array", source_->shape = shape, source_->place = place, source_->reconstruction = true;
  if (place) source_->unit = place->unit();
  if (place && place->in_mm) source_->pitch_mm = place->grid.pitch[0];
}

VolumeReader::~VolumeReader() = default;
const VolumeKind& VolumeReader::kind() const { return *kind_; }
std::string_view VolumeReader::title() const { return kind_ ? kind_->title : "an array"; }
Shape VolumeReader::shape() const { return source_->shape; }
std::optional<VolumePlace> VolumeReader::place() const { return source_->place; }
std::optional<double> VolumeReader::pitch_mm() const { return source_->pitch_mm; }
std::string VolumeReader::unit() const { return source_->unit; }
bool VolumeReader::complete() const { return source_->missing.empty(); }
std::string VolumeReader::recipe() const { return source_->recipe; }
std::string VolumeReader::missing() const { return source_->missing; }
bool VolumeReader::is_reconstruction() const { return source_->reconstruction; }

void VolumeReader::require_complete() const {
  require<FileError>(complete(), source_->where, ": ", source_->missing);
}

void VolumeReader::read(Range slices, float* data) {
  const VolumeSource& s = *source_;
  const Shape& n = s.shape;
  require<FileError>(0 <= slices.first && slices.first <= slices.last && slices.last <= n[0], s.where,
                     ": slices ", slices.first, ":", slices.last, " are wanted; there are 0:", n[0]);
  const Index count = slices.size() * n[1] * n[2];
  if (count == 0) return;
  source_->read(slices, data);
  scale(data, count);
  const float* bad = std::find_if_not(data, data + count, [](float v) { return std::isfinite(v); });
  if (bad == data + count) return;
  require<FileError>(false, s.where, ": ", voxel_text(bad - data, n, slices.first), " (z, y, x) is ", *bad,
                     "; finite numbers are needed");
}

void VolumeReader::scale(float* data, Index count) const {
  const VolumeSource& s = *source_;
  if (!s.min || !s.max || (s.type != PixelType::uint8 && s.type != PixelType::uint16)) return;
  const VoxelType type = s.type == PixelType::uint8 ? VoxelType::uint8 : VoxelType::uint16;
  scale_back(type, *s.min, *s.max, count, data);
}

std::vector<Shape> VolumeReader::levels() const {
  std::vector<Shape> all{source_->shape};
  all.insert(all.end(), source_->smaller.begin(), source_->smaller.end());
  return all;
}

double VolumeReader::bytes_for(const VolumeBox& box) const { return source_->bytes_for(box); }

void VolumeReader::read_box(const VolumeBox& box, float* data, std::size_t level) {
  const std::vector<Shape> all = levels();
  require<FileError>(level < all.size(), source_->where, ": level ", level, " is wanted; there are ",
                     all.size());
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Range r = box.part[axis];
    require<FileError>(0 <= r.first && r.first < r.last && r.last <= all[level][axis] && box.step[axis] > 0,
                       source_->where, ": ", r.first, ':', r.last, " along ", "zyx"[axis],
                       " is wanted; there are 0:", all[level][axis]);
  }
  source_->read_box(box, level, data);
  const Shape n = box.shape();
  scale(data, n[0] * n[1] * n[2]);
}

}  // namespace tandem::io
