// Projections of clinical scanners as DICOM-CT-PD: Chen et al., Med. Phys. 42, 6964 (2015), and the user
// manual of the collection LDCT-and-Projection-data (TCIA). Each file is a projection, with the place of its
// source and of its detector in private elements.
//
// The manual has cylinders about the axis of the gantry: x = -rho sin phi, y = rho cos phi, z; seen from the
// front of the gantry, x goes to the right, y upwards and z towards the viewer. A detector has its focal
// centre at (rho0, phi0, z0), and its cells at the distance d0 about that. Columns count in the sense of phi,
// and rows against z. The source is beside the focal centre by (d rho, d phi, d z), which change from view to
// view with a flying focal spot.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../../core/error.hpp"
#include "../../../core/parallel.hpp"
#include "../../../core/spelled.hpp"
#include "../../files/dicom.hpp"
#include "../../files/input_file.hpp"
#include "../../files/text.hpp"
#include "../fields.hpp"
#include "image.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

/// An element by its name in the manual.
struct NamedElement {
  std::string_view key;
  DicomTag tag;
  std::string_view vr;
};

constexpr NamedElement elements[] = {{"NumberofDetectorRows", 0x70291010, "US"},
                                     {"NumberofDetectorColumns", 0x70291011, "US"},
                                     {"DetectorElementTransverseSpacing", 0x70291002, "FL"},
                                     {"DetectorElementAxialSpacing", 0x70291006, "FL"},
                                     {"DetectorShape", 0x7029100b, "CS"},
                                     {"DetectorFocalCenterAngularPosition", 0x70311001, "FL"},
                                     {"DetectorFocalCenterAxialPosition", 0x70311002, "FL"},
                                     {"DetectorFocalCenterRadialDistance", 0x70311003, "FL"},
                                     {"ConstantRadialDistance", 0x70311031, "FL"},
                                     {"DetectorCentralElement", 0x70311033, "FL"},
                                     {"SourceAngularPositionShift", 0x7033100b, "FL"},
                                     {"SourceAxialPositionShift", 0x7033100c, "FL"},
                                     {"SourceRadialDistanceShift", 0x7033100d, "FL"},
                                     {"SpectrumIndex", 0x70331063, "US"},
                                     {"TypeofProjectionGeometry", 0x7037100a, "CS"},
                                     {"DarkFieldCorrectionFlag", 0x70391005, "CS"},
                                     {"FlatFieldCorrectionFlag", 0x70391006, "CS"},
                                     {"LogFlag", 0x70391009, "CS"},
                                     {"WaterAttenuationCoefficient", 0x70411001, "DS"},
                                     {"PatientPosition", 0x00185100, "CS"},
                                     {"SeriesInstanceUID", 0x0020000e, "UI"},
                                     {"NumberOfFrames", 0x00280008, "IS"},
                                     {"Rows", dicom_rows, "US"},
                                     {"Columns", dicom_columns, "US"},
                                     {"SamplesPerPixel", 0x00280002, "US"},
                                     {"BitsAllocated", 0x00280100, "US"},
                                     {"PixelRepresentation", 0x00280103, "US"},
                                     {"RescaleIntercept", 0x00281052, "DS"},
                                     {"RescaleSlope", 0x00281053, "DS"}};

constexpr Field ct_pd_fields[] = {
    {"NumberofDetectorRows", "", Use::obeyed, "rows; (7029,1010)"},
    {"NumberofDetectorColumns", "", Use::obeyed, "bins; (7029,1011)"},
    {"DetectorElementTransverseSpacing", "", Use::obeyed, "pitch of bins, along the arc"},
    {"DetectorElementAxialSpacing", "", Use::obeyed, "pitch of rows"},
    {"DetectorShape", "", Use::obeyed, "CYLINDRICAL or FLAT; SPHERICAL is refused"},
    {"DetectorFocalCenterAngularPosition", "", Use::obeyed, "the angle of the focal centre, rad"},
    {"DetectorFocalCenterAxialPosition", "", Use::obeyed, "its height, mm"},
    {"DetectorFocalCenterRadialDistance", "", Use::obeyed, "its distance from the axis, mm"},
    {"ConstantRadialDistance", "", Use::obeyed, "from it to the detector, mm"},
    {"DetectorCentralElement", "", Use::obeyed, "column and row, from 1, that face it"},
    {"SourceAngularPositionShift", "0", Use::obeyed, "how far the source is off it, rad"},
    {"SourceAxialPositionShift", "0", Use::obeyed, "the same along the axis, mm"},
    {"SourceRadialDistanceShift", "0", Use::obeyed, "the same outwards, mm"},
    {"RescaleSlope", "1", Use::obeyed, "line integrals of numbers; RescaleIntercept is added"},
    {"PatientPosition", "", Use::obeyed, "HFS, FFS, HFP or FFP: the volume lies in the frame of the patient"},
    {"TypeofProjectionGeometry", "", Use::obeyed, "a fan; parallel rays are refused"},
    {"SpectrumIndex", "", Use::obeyed, "projections of several spectra are refused"},
    {"WaterAttenuationCoefficient", "", Use::obeyed, "1/mm; a note, for {hu}"},
    {"LogFlag", "YES", Use::refused, "counts without a logarithm, and no flats are beside them"},
    {"DarkFieldCorrectionFlag", "YES", Use::noted, "the numbers are taken as line integrals"},
    {"FlatFieldCorrectionFlag", "YES", Use::noted, "the numbers are taken as line integrals"}};

const NamedElement& element_named(std::string_view key) {
  return *std::ranges::find(elements, key, &NamedElement::key);
}

/// A projection, and what it says by the names of the manual.
class Projection {
 public:
  explicit Projection(const fs::path& path) : file_(path) {
    require<FileError>(
        file_.has(element_named("NumberofDetectorRows").tag), file_.name(), ": is ", file_.kind(),
        " of DICOM; as a scan only projections in the form DICOM-CT-PD are read, which have an "
        "element (7029,1010)");
  }

  const DicomFile& file() const { return file_; }
  bool has(std::string_view key) const { return file_.has(element_named(key).tag); }
  std::string text(std::string_view key) const { return file_.text(element_named(key).tag); }
  std::optional<double> given(std::string_view key) const {
    return file_.number(element_named(key).tag, element_named(key).vr);
  }
  /// @throws FileError unless it is a finite number within these bounds
  double number(std::string_view key, double least, double most, std::optional<double> otherwise = {}) const {
    if (!has(key) && otherwise) return *otherwise;
    const std::optional<double> value = given(key);
    require<FileError>(value && *value >= least && *value <= most, file_.name(), ": ", key, " = ",
                       value      ? words(*value)
                       : has(key) ? "no number"
                                  : "missing",
                       "; ", least, " to ", most, " is needed");
    return *value;
  }
  double length(std::string_view key) const { return number(key, 1e-6, 1e5); }
  std::array<double, 2> central_element() const {
    const std::vector<double> both = file_.numbers(element_named("DetectorCentralElement").tag, "FL");
    const auto fine = [](double v) { return std::abs(v) < 1e5; };
    require<FileError>(both.size() == 2 && std::ranges::all_of(both, fine), file_.name(),
                       ": DetectorCentralElement: a column and a row are needed");
    return {both[0], both[1]};
  }
  /// The value of a key for `heed`.
  std::optional<std::string> value(std::string_view key) const {
    return has(key) ? std::optional(text(key)) : std::nullopt;
  }

 private:
  DicomFile file_;
};

/// The pixels of a projection, as line integrals. The file may have them turned: columns of the detector are
/// its rows.
class ProjectionImage final : public ImageFile {
 public:
  explicit ProjectionImage(const Projection& from) : name_(from.file().name()), stamp_(from.file().stamp()) {
    constexpr double most = 65535;
    const auto count = [&](std::string_view key) { return static_cast<Index>(from.number(key, 1, most)); };
    page_.rows = count("NumberofDetectorRows"), page_.bins = count("NumberofDetectorColumns");
    lines_ = count("Rows"), columns_ = count("Columns");
    turned_ = lines_ == page_.bins && columns_ == page_.rows;
    require<FileError>(turned_ || (lines_ == page_.rows && columns_ == page_.bins), name_,
                       ": has an image of ", lines_, " x ", columns_, " pixels for a detector of ",
                       page_.rows, " rows and ", page_.bins, " columns; the file is damaged");
    require<FileError>(page_.rows != page_.bins || page_.rows == 1, name_, ": has as many rows as columns, ",
                       page_.rows, ", so that it is open whether the image is turned; this is not read");
    require_pixels(from);
    slope_ = from.number("RescaleSlope", -1e6, 1e6, 1),
    intercept_ = from.number("RescaleIntercept", -1e9, 1e9, 0);
    signed_ = from.number("PixelRepresentation", 0, 1, 0) == 1;
  }

  const std::string& name() const override { return name_; }
  Index pages() const override { return 1; }
  const ImagePage& page(Index) const override { return page_; }
  std::size_t decoded_bytes(Index) const override { return extent_.bytes; }

  void read(Index, Range rows, Range bins, std::byte* out) const override {
    require_unchanged(stamp_, name_);
    const Range lines = turned_ ? bins : rows;
    std::vector<std::uint16_t> pixels(lines.size() * columns_);
    InputFile(stamp_.path, name_)
        .read(extent_.offset + 2 * lines.first * columns_, std::ssize(pixels) * 2,
              reinterpret_cast<std::byte*>(pixels.data()));
    require_unchanged(stamp_, name_);
    for (Index row = rows.first; row < rows.last; ++row)
      for (Index bin = bins.first; bin < bins.last; ++bin, out += sizeof(float)) {
        const std::uint16_t pixel = turned_ ? pixels[(bin - bins.first) * columns_ + row]
                                            : pixels[(row - rows.first) * columns_ + bin];
        const int number = signed_ ? static_cast<std::int16_t>(pixel) : pixel;
        const auto value = static_cast<float>(intercept_ + slope_ * number);
        std::memcpy(out, &value, sizeof value);
      }
  }

 private:
  void require_pixels(const Projection& from) {
    const std::optional<Extent> pixels = from.file().pixels();
    require<FileError>(pixels.has_value(), name_, ": holds no pixels; the file is damaged or was cut short");
    require<FileError>(
        from.number("BitsAllocated", 1, 64) == 16 && from.number("SamplesPerPixel", 1, 4, 1) == 1, name_,
        ": has pixels of another size than 16 bits, one number each");
    require<FileError>(from.number("NumberOfFrames", 1, 1e9, 1) == 1, name_,
                       ": holds several projections; one in each file is read");
    extent_ = *pixels;
    const Index needed = 2 * page_.rows * page_.bins;
    require<FileError>(extent_.bytes == needed || extent_.bytes == needed + needed % 2, name_, ": has ",
                       extent_.bytes, " bytes of pixels; ", needed, " are needed, the file is damaged");
  }

  std::string name_;
  FileStamp stamp_;
  ImagePage page_;
  Index lines_ = 0, columns_ = 0;
  bool turned_ = false, signed_ = false;
  double slope_ = 1, intercept_ = 0;
  Extent extent_{};
};

/// The place of a view, and by how many cells a detector about its source misses the cells of the scanner.
struct PlacedView {
  FlexibleView view{};
  double missed = 0;
};

/// The cells of a cylindrical detector as seen from the source: the angles of its columns are nearly those of
/// a cylinder about the source. With no shift of the source they are the same. Here x is along the ray from
/// the focal centre through the axis, and y at right angles, in the sense of phi.
struct Arc {
  double radius, step, middle;  ///< mm, rad from a column to the next one, rad
  double missed;                ///< columns

  Arc(const std::array<double, 2>& source, double distance, double width, double central, Index columns) {
    const auto cell = [&](double column) {
      const double turn = (column - central) * width / distance;
      return std::array{distance * std::cos(turn) - source[0], distance * std::sin(turn) - source[1]};
    };
    const auto angle = [&](double column) { return std::atan2(cell(column)[1], cell(column)[0]); };
    const double centre = 0.5 * (columns + 1);  // columns count from 1
    radius = std::hypot(cell(centre)[0], cell(centre)[1]);
    step = columns > 1 ? (angle(columns) - angle(1)) / (columns - 1) : width / distance;
    double low = INFINITY, high = -INFINITY;
    for (Index column = 1; column <= columns; ++column) {
      const double beside = angle(column) - step * (column - centre);
      low = std::min(low, beside), high = std::max(high, beside);
    }
    middle = 0.5 * (low + high), missed = 0.5 * (high - low) / std::abs(step);
  }
};

PlacedView view_of(const Projection& from) {
  const double rho = from.length("DetectorFocalCenterRadialDistance"),
               distance = from.length("ConstantRadialDistance"),
               phi = from.number("DetectorFocalCenterAngularPosition", -1e6, 1e6),
               z = from.number("DetectorFocalCenterAxialPosition", -1e6, 1e6),
               width = from.length("DetectorElementTransverseSpacing"),
               height = from.length("DetectorElementAxialSpacing"),
               d_phi = from.number("SourceAngularPositionShift", -1, 1, 0),
               d_z = from.number("SourceAxialPositionShift", -1e3, 1e3, 0),
               d_rho = from.number("SourceRadialDistanceShift", -1e3, 1e3, 0);
  const auto rows = static_cast<Index>(from.number("NumberofDetectorRows", 1, 65535)),
             columns = static_cast<Index>(from.number("NumberofDetectorColumns", 1, 65535));
  const auto [central_column, central_row] = from.central_element();
  const std::array source{rho - (rho + d_rho) * std::cos(d_phi), -(rho + d_rho) * std::sin(d_phi)};
  const double cosine = std::cos(phi), sine = std::sin(phi);
  const auto place = [&](double along, double aside, double up) {  // from the focal centre
    return Vector3{-rho * sine + along * sine + aside * cosine, rho * cosine - along * cosine + aside * sine,
                   z + up};
  };
  const double raised = -(0.5 * (rows + 1) - central_row) * height;
  PlacedView placed;
  placed.view.source = place(source[0], source[1], d_z);
  placed.view.row_step = {0, 0, -height};
  if (in_lower_case(from.text("DetectorShape")) == "flat") {
    placed.view.detector = place(distance, (0.5 * (columns + 1) - central_column) * width, raised);
    placed.view.bin_step = {width * cosine, width * sine, 0};
    return placed;
  }
  const Arc arc(source, distance, width, central_column, columns);
  const double c = std::cos(arc.middle), s = std::sin(arc.middle), pitch = arc.step * arc.radius;
  placed.view.detector = place(source[0] + arc.radius * c, source[1] + arc.radius * s, raised);
  placed.view.bin_step = {pitch * (-s * sine + c * cosine), pitch * (s * cosine + c * sine), 0};
  placed.missed = arc.missed;
  return placed;
}

/// Signs that turn the frame of the manual to that of the patient (x to the left hand, y to the back, z to
/// the head).
std::optional<Vector3> signs_of_patient(const std::string& position) {
  if (position == "HFS") return Vector3{1, -1, -1};
  if (position == "FFS") return Vector3{-1, -1, 1};
  if (position == "HFP") return Vector3{-1, 1, -1};
  if (position == "FFP") return Vector3{1, 1, 1};
  return std::nullopt;
}

void turn_to_patient(FlexibleView& view, const Vector3& signs) {
  for (Vector3* each : {&view.source, &view.detector, &view.bin_step, &view.row_step})
    for (std::size_t i = 0; i < 3; ++i) (*each)[i] *= signs[i];
}

/// Requires that a projection is of the scan of the first one.
void require_of_scan(const Projection& one, const Projection& first) {
  for (const char* key : {"SeriesInstanceUID", "DetectorShape", "PatientPosition"})
    require<FileError>(one.text(key) == first.text(key), one.file().name(), ": ", key, " = ", one.text(key),
                       ", and ", first.text(key), " in ", fs::path(first.file().name()).filename().string(),
                       "; keep the files of one scan in a folder");
  const auto spectrum = [](const Projection& of) { return of.given("SpectrumIndex").value_or(1); };
  require<FileError>(spectrum(one) == spectrum(first), one.file().name(), ": SpectrumIndex = ", spectrum(one),
                     ", and ", spectrum(first), " in ", fs::path(first.file().name()).filename().string(),
                     "; keep the files of one spectrum in a folder");
}

/// Requires a detector and rays that views can have.
void require_known_geometry(const Projection& first) {
  const std::string shape = in_lower_case(first.text("DetectorShape")),
                    rays = in_lower_case(first.text("TypeofProjectionGeometry"));
  require<FileError>(shape == "cylindrical" || shape == "flat", first.file().name(),
                     ": DetectorShape = ", first.text("DetectorShape"), "; CYLINDRICAL or FLAT is needed");
  require<FileError>(!rays.starts_with("parallel"), first.file().name(),
                     ": TypeofProjectionGeometry = ", first.text("TypeofProjectionGeometry"),
                     "; rays from a source are needed");
}

std::vector<std::string> notes_of(const Projection& first, double missed, Index views) {
  std::vector<std::string> notes;
  heed(
      ct_pd_fields, first.file().name(), [&](std::string_view key) { return first.value(key); }, notes);
  notes.emplace_back("DICOM-CT-PD: the numbers are line integrals, and each view has its own place");
  if (!signs_of_patient(first.text("PatientPosition")))
    notes.push_back(
        "PatientPosition = " + first.text("PatientPosition") +
        " is not known: seen from the front of the gantry, the volume has x to the right, y upwards and z "
        "towards the viewer");
  if (const std::optional<double> water = first.given("WaterAttenuationCoefficient"); water && *water > 0)
    notes.push_back(
        words("WaterAttenuationCoefficient: for Hounsfield units give ", spelled("hu"), ' ', *water));
  if (missed > 0.1)
    notes.push_back(words("flying focal spot: a detector about the source of each of ", views,
                          " views misses the ", "columns of the scanner by up to ", missed, " columns"));
  return notes;
}

void complete_projections(const std::vector<fs::path>& files, const OpenOptions& options,
                          Acquisition& found) {
  constexpr double most_missed = 0.5;  // columns
  const Projection first(files.front());
  require_known_geometry(first);
  std::vector<PlacedView> placed(files.size());
  parallel_for(std::ssize(files), [&](Index k) {
    const Projection one(files[k]);
    require_of_scan(one, first);
    placed[k] = view_of(one);
    require<FileError>(placed[k].missed <= most_missed, one.file().name(), ": the source is ",
                       placed[k].missed, " columns off a detector that lies about it; at most ", most_missed,
                       " are taken");
  });
  ViewGeometry geometry{.where = fs::path(first.file().name()).parent_path().string() + ": DICOM-CT-PD",
                        .curved = in_lower_case(first.text("DetectorShape")) == "cylindrical"};
  const Vector3 signs = signs_of_patient(first.text("PatientPosition")).value_or(Vector3{1, 1, 1});
  double missed = 0;
  for (PlacedView& one : placed) {
    turn_to_patient(one.view, signs);
    missed = std::max(missed, one.missed);
    geometry.views.push_back(one.view);
  }
  found.info.format = "DICOM-CT-PD";
  found.info.line_integrals = true;
  const std::vector<std::string> notes = notes_of(first, missed, std::ssize(placed));
  found.info.notes.insert(found.info.notes.end(), notes.begin(), notes.end());
  if (options.geometry.empty()) take_views(found, std::move(geometry));
}

}  // namespace

extern const ImageFormat dicom_images{
    .name = "DICOM-CT-PD",
    .endings = {".dcm"},
    .recognises = is_dicom,
    .open = [](const fs::path& path) -> std::unique_ptr<ImageFile> {
      return std::make_unique<ProjectionImage>(Projection(path));
    },
    .complete =
        [](const fs::path& path, const OpenOptions&, Acquisition&) {
          require<FileError>(false, path.string(), ": is one projection of a scan; give the folder of all");
        },
    .complete_stack = complete_projections,
    .fields = ct_pd_fields};

}  // namespace tandem::io
