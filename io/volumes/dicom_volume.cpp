// Volumes as series of CT images of DICOM (PS3.3, A.3), a file for each slice. The axes x, y and z of the
// volume are taken for those of a patient, since both frames are right-handed.

#include <cmath>
#include <cstring>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/version.hpp"
#include "../files/dicom.hpp"
#include "../files/image_file.hpp"
#include "../files/plain_file.hpp"
#include "../files/text.hpp"
#include "volume_format.hpp"
#include "volume_kind.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr Index most_voxels_across = 65535;
const std::string ct_image = "1.2.840.10008.5.1.4.1.1.2";
constexpr DicomTag own_block = 0x00990010, own_text = 0x00991001;
constexpr const char* own_name = "TANDEM";
constexpr std::uint16_t sign = 0x8000;  // 0 of a type without a sign is the least number of one with a sign

/// What a stored number stands for: slope times the number, and the intercept.
struct Rescale {
  double slope, intercept;
};

Rescale rescale_of(const VolumeFormat& form) {
  const double step = (1.0 * form.max - form.min) / full_scale(form.type), zero = form.min + sign * step;
  if (!form.water) return {step, zero};
  if (std::pair(form.min, form.max) == hounsfield_range(*form.water)) return {1, 0};  // without rounding
  return {hounsfield * step / *form.water, hounsfield * (zero / *form.water - 1)};
}

/// The number of a slice in the full grid.
Index number_of(const SliceOfVolume& of) { return of.format.place->slices().first + of.slice; }

/// What all volumes of one scan have in common; without it, the recipe.
std::string scan_of(const SliceOfVolume& of) {
  const std::string& made_by = of.format.made_by;
  return made_by.empty() ? of.recipe : made_by.substr(0, made_by.find(','));
}

/// The name of the object that a slice is.
std::string instance_of(const SliceOfVolume& of, const std::string& series) {
  return dicom_uid(series + " slice " + std::to_string(number_of(of)));
}

/// The name of a volume with letters that every text of DICOM may have.
std::string plain_name(const SliceOfVolume& of) {
  constexpr std::size_t longest = 64;
  std::string name = of.volume.substr(0, longest);
  for (char& c : name)
    if (c < ' ' || c > '~' || c == '\\' || c == '^' || c == '=') c = '_';
  return name;
}

void add_patient(DicomText& to, const SliceOfVolume& of, const std::string& series) {
  to.add(dicom_class, "UI", ct_image);
  to.add(0x00080018, "UI", instance_of(of, series));
  for (const DicomTag date : {0x00080020, 0x00080023}) to.add(date, "DA", "");
  for (const DicomTag time : {0x00080030, 0x00080033}) to.add(time, "TM", "");
  to.add(0x00080050, "SH", "");
  to.add(0x00080060, "CS", "CT");
  to.add(0x00080070, "LO", "tandem");
  to.add(0x00080090, "PN", "");
  to.add(0x0008103e, "LO", plain_name(of));
  to.add(0x00100010, "PN", plain_name(of));
  to.add(0x00100020, "LO", plain_name(of));
  to.add(0x00100030, "DA", "");
  to.add(0x00100040, "CS", "");
}

void add_place(DicomText& to, const SliceOfVolume& of, const std::string& series) {
  const VolumeGrid& grid = of.format.place->grid;
  to.add(0x00180050, std::vector{grid.pitch[2]});
  to.add(0x00180060, "DS", "");
  to.add(0x00180088, std::vector{grid.pitch[2]});
  to.add(0x00181020, "LO", TANDEM_VERSION);
  to.add(0x00185100, "CS", "");
  to.add(0x0020000d, "UI", dicom_uid("study " + scan_of(of)));
  to.add(0x0020000e, "UI", dicom_uid(series));
  to.add(0x00200010, "SH", "1");
  to.add(0x00200011, "IS", "1");
  to.add(0x00200012, "IS", "");
  to.add(0x00200013, "IS", std::to_string(number_of(of) + 1));
  to.add(0x00200032, std::vector{grid.x(0), grid.y(0), grid.z(of.slice)});
  to.add(0x00200037, std::vector<double>{1, 0, 0, 0, 1, 0});
  to.add(0x00200052, "UI", dicom_uid("frame " + scan_of(of)));
  to.add(0x00200060, "CS", "");
  to.add(0x00201040, "LO", "");
}

void add_pixels(DicomText& to, const SliceOfVolume& of) {
  const VolumeFormat& form = of.format;
  const auto [slope, intercept] = rescale_of(form);
  const std::array<double, 3>& pitch = form.place->grid.pitch;
  to.add(0x00280002, 1);
  to.add(0x00280004, "CS", "MONOCHROME2");
  to.add(dicom_rows, static_cast<std::uint16_t>(of.shape[1]));
  to.add(dicom_columns, static_cast<std::uint16_t>(of.shape[2]));
  to.add(0x00280030, std::vector{pitch[1], pitch[0]});
  to.add(0x00280100, 16), to.add(0x00280101, 16), to.add(0x00280102, 15), to.add(0x00280103, 1);
  if (slope != 1) {  // what a viewer shows: the whole range
    to.add(0x00281050, std::vector{intercept - 0.5 * slope});
    to.add(0x00281051, std::vector{slope * full_scale(form.type)});
  }
  to.add(0x00281052, std::vector{intercept});
  to.add(0x00281053, std::vector{slope});
  to.add(0x00281054, "LO", form.water ? "HU" : "US");
  to.add(own_block, "LO", own_name);
  to.add(own_text, "UT", slice_description(of.shape, form, of.slice, of.recipe));
}

/// What all slices of one series have in common, and no other series has.
std::string series_of(const SliceOfVolume& of) {
  const VolumeFormat& form = of.format;
  const VolumePlace& place = *form.place;
  std::string text = form.made_by.empty() ? of.recipe : form.made_by;
  for (const std::size_t i : {0, 1, 2})
    text += words(' ', place.full_size[i], ' ', shortest(place.grid.pitch[i]), ' ',
                  i < 2 ? place.first[i] : 0, ' ', i < 2 ? place.grid.size[i] : 0);
  return text +
         words(' ', shortest(form.min), ' ', shortest(form.max), ' ', shortest(form.water.value_or(0)));
}

void write_dicom_slice(PlainFile& file, const SliceOfVolume& of, const void* stored) {
  const Index count = of.shape[1] * of.shape[2];
  const std::string series = series_of(of);
  DicomText text;
  text.add(0x00080005, "CS", "ISO_IR 192");
  text.add(0x00080008, "CS", of.format.water ? "ORIGINAL\\PRIMARY\\AXIAL" : "DERIVED\\SECONDARY\\AXIAL");
  add_patient(text, of, series);
  add_place(text, of, series);
  add_pixels(text, of);
  text.begin_pixels(static_cast<std::uint32_t>(2 * count));
  const std::string head = text.file(ct_image, instance_of(of, series));
  std::vector<std::uint16_t> pixels(count);
  std::memcpy(pixels.data(), stored, 2 * count);
  for (std::uint16_t& pixel : pixels) pixel ^= sign;
  file.write(0, head.data(), head.size());
  file.write(std::ssize(head), pixels.data(), 2 * count);
}

/// A slice that tandem wrote: its voxels as numbers without a sign.
class DicomSlice final : public ImageFile {
 public:
  explicit DicomSlice(const DicomFile& file)
      : name_(file.name()), stamp_(file.stamp()), extent_(file.pixels().value()) {
    const auto count = [&](DicomTag tag) {
      const double value = file.number(tag, "US").value_or(0);
      require<FileError>(value >= 1 && value <= most_voxels_across, name_, ": says that it has ", value,
                         " rows or columns; the file is damaged");
      return static_cast<Index>(value);
    };
    page_.rows = count(dicom_rows), page_.bins = count(dicom_columns), page_.type = PixelType::uint16;
    require<FileError>(2 * page_.rows * page_.bins == extent_.bytes, name_, ": has ", extent_.bytes,
                       " bytes of pixels; ", page_.rows, " x ", page_.bins, " of 16 bits need ",
                       2 * page_.rows * page_.bins, ", the file is damaged");
  }
  const std::string& name() const override { return name_; }
  Index pages() const override { return 1; }
  const ImagePage& page(Index) const override { return page_; }
  void read(Index, Range rows, Range bins, std::byte* out) const override {
    require_unchanged(stamp_, name_);
    const InputFile file(stamp_.path, name_);
    std::vector<std::uint16_t> line(bins.size());
    for (Index row = rows.first; row < rows.last; ++row, out += 2 * bins.size()) {
      file.read(extent_.offset + 2 * (row * page_.bins + bins.first), 2 * bins.size(),
                reinterpret_cast<std::byte*>(line.data()));
      for (std::uint16_t& pixel : line) pixel ^= sign;
      std::memcpy(out, line.data(), 2 * line.size());
    }
  }

 private:
  std::string name_;
  FileStamp stamp_;
  Extent extent_;
  ImagePage page_;
};

std::unique_ptr<ImageFile> open_dicom_slice(const fs::path& path) {
  const DicomFile file(path);
  require<FileError>(file.pixels().has_value(), path.string(), ": holds no pixels");
  return std::make_unique<DicomSlice>(file);
}

/// What tandem wrote into a file; empty for files of others, and for those that cannot be read.
std::string dicom_description(const fs::path& path) {
  try {
    if (!is_dicom(path)) return {};
    const DicomFile file(path);
    return file.text(own_block) == own_name ? file.text(own_text) : "";
  } catch (const FileError&) {
    return {};
  }
}

const SliceFile dicom_slice{
    .write = write_dicom_slice, .description = dicom_description, .open = open_dicom_slice};

std::unique_ptr<VolumeWriter> create_dicom(const Creation& c) {
  constexpr Index most_bytes = 0xfffffffe;
  require<FileError>(c.format.place && c.format.place->in_mm, c.path.string(),
                     ": a DICOM series has lengths in mm, and the size of voxels is not known; give ",
                     spelled("pixel-size"), " MM, or a name ending in .h5");
  require<FileError>(c.shape[1] <= most_voxels_across && c.shape[2] <= most_voxels_across &&
                         2 * c.shape[1] * c.shape[2] <= most_bytes,
                     c.path.string(), ": slices of ", c.shape[1], " x ", c.shape[2],
                     " voxels; DICOM has at most ", most_voxels_across,
                     " each way, and 4 GB; give a name ending in .h5");
  return create_slice_files(c);
}

}  // namespace

VolumeKind dicom_kind() {
  return {.name = "dicom",
          .title = "DICOM",
          .endings = {".dcm"},
          .types = {VoxelType::uint16},
          .in_hounsfield = true,
          .parts = Parts::slices,
          .slice_file = &dicom_slice,
          .create = create_dicom,
          .open = [](const fs::path& path, bool) { return open_slice_files(path, dicom_slice); },
          .files = slice_files};
}

}  // namespace tandem::io
