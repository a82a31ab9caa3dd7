// Streams are as in dxchange, reader.py: read_txrm, and in CIL 26, ZEISSDataReader.py. The geometry is that
// of CIL: PixelSize is in microns at the sample, distances are in mm, image rows count from below, and the
// sample turns by the angles.

#include "txrm.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../../../core/error.hpp"
#include "../../../core/units.hpp"
#include "../../files/text.hpp"
#include "../fields.hpp"
#include "../made_frames.hpp"
#include "frames.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* moved = "the sample moved while views were taken";
constexpr Field zeiss_fields[] = {
    {"ImageInfo/ImageWidth", "", Use::obeyed, "bins"},
    {"ImageInfo/ImageHeight", "", Use::obeyed, "rows"},
    {"ImageInfo/NoOfImages", "", Use::obeyed, "the number of views"},
    {"ImageInfo/ImagesTaken", "", Use::obeyed, "the number of views that are there"},
    {"ImageInfo/DataType", "", Use::obeyed, "the type of pixels: 5 is uint16, 10 float32"},
    {"ImageInfo/Angles", "", Use::obeyed, "the angles of the views, in rad or in degrees"},
    {"ImageInfo/PixelSize", "", Use::obeyed, "the pitch at the sample"},
    {"ImageInfo/StoRADistance", "", Use::obeyed, "from source to axis"},
    {"ImageInfo/DtoRADistance", "", Use::obeyed, "from detector to axis"},
    {"ImageInfo/XrayGeometry", "1", Use::obeyed, "1 is a cone beam, others are parallel"},
    {"ReferenceData/Image", "", Use::obeyed, "the flat"},
    {"ReferenceData/DataType", "", Use::obeyed, "the type of its pixels"},
    {"ReferenceData/ExpTime", "", Use::obeyed, "the flat is scaled to the exposure of the views"},
    {"MultiReferenceData/Image1", "", Use::obeyed, "and Image2, ...: flats, of which the mean counts"},
    {"MultiReferenceData/DataType", "", Use::obeyed, "the type of their pixels"},
    {"MultiReferenceData/ExpTime", "", Use::obeyed, "flats are scaled to the exposure of the views"},
    {"ImageInfo/ExpTimes", "", Use::obeyed, "the exposure of the views; a note if it changes"},
    {"Alignment/X-Shifts", "0", Use::obeyed, "views are moved along the bins"},
    {"Alignment/Y-Shifts", "0", Use::obeyed, "views are moved along the rows"},
    {"ImageInfo/XrayMagnification", "", Use::obeyed, "a note if distances say another"},
    {"ImageInfo/MosiacMode", "0", Use::refused,
     "images of a mosaic; join them, and give the angles by {angles}"},
    {"ReconSettings/CenterShift", "0", Use::noted,
     "bins by which another program moved the axis; {rotation-axis} auto finds it"},
    {"AutoRecon/CenterShift", "0", Use::noted,
     "bins by which another program moved the axis; {rotation-axis} auto finds it"},
    {"ImageInfo/XPosition", "", Use::obeyed, moved},
    {"ImageInfo/YPosition", "", Use::obeyed, moved},
    {"ImageInfo/ZPosition", "", Use::obeyed, moved}};

constexpr double most_images = 1e6;

/// A scan in a compound file, and its numbers.
class Zeiss {
 public:
  explicit Zeiss(const fs::path& path) : file_(std::make_shared<CompoundFile>(path)) {
    require<FileError>(file_->size("ImageInfo/ImageWidth") && file_->size("ImageInfo/ImageHeight"), name(),
                       ": is a compound file (OLE2), but no scan of Zeiss: it has no ImageInfo/ImageWidth");
    bins_ = count("ImageInfo/ImageWidth"), rows_ = count("ImageInfo/ImageHeight");
    planned_ = count("ImageInfo/NoOfImages");
    images_ =
        file_->size("ImageInfo/ImagesTaken") ? std::min(planned_, count("ImageInfo/ImagesTaken")) : planned_;
    const double claimed = 1.0 * bins_ * rows_ * bytes_of(type("ImageInfo/DataType")) * images_;
    require<FileError>(claimed <= file_->stamp().bytes, name(), ": claims ", images_, " images of ", rows_,
                       " x ", bins_, " pixels, ", claimed, " bytes; the file has ", file_->stamp().bytes,
                       ", it is damaged or was cut short");
  }

  const std::string& name() const { return file_->name(); }
  const std::shared_ptr<const CompoundFile>& file() const { return file_; }
  Index images() const { return images_; }
  Index planned() const { return planned_; }
  Index rows() const { return rows_; }
  Index bins() const { return bins_; }

  PixelType type(const std::string& stream) const {
    const std::int32_t code = whole(stream);
    require<FileError>(code == 5 || code == 10, name(), ": ", stream, " = ", code,
                       "; 5 (uint16) or 10 (float32) is needed");
    return code == 5 ? PixelType::uint16 : PixelType::float32;
  }

  /// The numbers of a stream that has one for each image, or fewer, up to the first one that is not finite.
  std::vector<double> floats(const std::string& stream) const {
    if (!file_->size(stream)) return {};
    const std::string bytes = file_->bytes(stream, images_ * Index{sizeof(float)});
    std::vector<double> numbers;
    for (std::size_t at = 0; at + sizeof(float) <= bytes.size(); at += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, bytes.data() + at, sizeof value);
      if (!std::isfinite(value)) break;
      numbers.push_back(value);
    }
    return numbers;
  }

  std::optional<double> first(const std::string& stream) const {
    const std::vector<double> all = floats(stream);
    return all.empty() ? std::nullopt : std::optional(all.front());
  }

  std::int32_t whole(const std::string& stream) const {
    const std::string bytes = file_->size(stream) ? file_->bytes(stream, 4) : "";
    require<FileError>(bytes.size() == 4, name(), ": ", stream, ": is missing, or has less than 4 bytes");
    std::int32_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  std::unique_ptr<FrameSource> frames() const {
    std::vector<std::string> streams;
    for (Index k = 1; k <= images_; ++k)  // each storage has a hundred
      streams.push_back("ImageData" + std::to_string((k + 99) / 100) + "/Image" + std::to_string(k));
    return frames_in_streams(file_, streams, type("ImageInfo/DataType"), rows_, bins_);
  }

 private:
  Index count(const std::string& stream) const {
    const std::int32_t value = whole(stream);
    require<FileError>(value >= 1 && value <= most_images, name(), ": ", stream, " = ", value, "; 1 to ",
                       most_images, " is needed");
    return value;
  }

  std::shared_ptr<const CompoundFile> file_;
  Index images_ = 0, planned_ = 0, rows_ = 0, bins_ = 0;
};

/// Reads the angles. Versa scanners write rad, and other microscopes degrees. No scan has less than 6.5
/// degrees.
void read_angles(const Zeiss& zeiss, Acquisition& found) {
  constexpr double slack = 1.03;
  found.angles_where = zeiss.name() + ": ImageInfo/Angles";
  found.angles = zeiss.floats("ImageInfo/Angles");
  if (std::ssize(found.angles) != zeiss.images()) found.angles.clear();
  const auto [low, high] = std::minmax_element(found.angles.begin(), found.angles.end());
  if (low == found.angles.end() || (*low == *high && zeiss.images() > 1)) return found.angles.clear();
  const bool radians = *high - *low <= slack * whole_turn;
  found.info.notes.emplace_back(std::string("ImageInfo/Angles are taken as ") +
                                (radians ? "rad: they span less than 6.5" : "degrees"));
  for (double& angle : found.angles) angle = radians ? -angle : -in_radians(angle);
}

void read_geometry(const Zeiss& zeiss, Acquisition& found) {
  const std::optional<double> pixel_um = zeiss.first("ImageInfo/PixelSize"),
                              source = zeiss.first("ImageInfo/StoRADistance"),
                              detector = zeiss.first("ImageInfo/DtoRADistance");
  const bool known = source && detector && *source != 0 && *detector != 0;
  const bool cone =
      zeiss.file()->size("ImageInfo/XrayGeometry") ? zeiss.whole("ImageInfo/XrayGeometry") == 1 : known;
  if (pixel_um && *pixel_um > 0) found.info.pixel_size_mm = *pixel_um / 1000;
  if (!cone) {
    if (detector && *detector != 0) found.info.propagation_mm = std::abs(*detector);
    return;
  }
  require<FileError>(
      known && found.info.pixel_size_mm, zeiss.name(),
      ": ImageInfo has no PixelSize, StoRADistance or DtoRADistance above 0; all are needed for a cone beam");
  found.kind = ConeBeam::kind;
  found.sod_mm = std::abs(*source), found.sdd_mm = std::abs(*source) + std::abs(*detector);
  const double magnification = *found.sdd_mm / *found.sod_mm;
  *found.info.pixel_size_mm *= magnification;
  const std::optional<double> said = zeiss.first("ImageInfo/XrayMagnification");
  if (!said || *said <= 0 || std::abs(*said / magnification - 1) < 0.01) return;
  found.info.notes.push_back(words("ImageInfo/XrayMagnification = ", *said, ", but the distances say ",
                                   magnification, ", which is taken"));
}

/// The group of the flats, and their streams: one flat, or several with numbers from 1 on.
std::pair<std::string, std::vector<std::string>> reference_of(const CompoundFile& file) {
  if (file.size("ReferenceData/Image")) return {"ReferenceData", {"ReferenceData/Image"}};
  const std::string group = "MultiReferenceData";
  std::vector<std::string> streams;
  for (Index k = 1; file.size(group + "/Image" + std::to_string(k)); ++k)
    streams.push_back(group + "/Image" + std::to_string(k));
  return {group, streams};
}

/// Reads the flats, which have the exposure of the views.
void read_reference(const Zeiss& zeiss, Acquisition& found) {
  const auto [group, streams] = reference_of(*zeiss.file());
  if (streams.empty()) return;
  const std::string own_type = group + "/DataType",
                    type = zeiss.file()->size(own_type) ? own_type : "ImageInfo/DataType";
  found.flats.push_back(
      frames_in_streams(zeiss.file(), streams, zeiss.type(type), zeiss.rows(), zeiss.bins()));
  const std::vector<double> times = zeiss.floats("ImageInfo/ExpTimes");
  const std::optional<double> flat = zeiss.first(group + "/ExpTime");
  if (times.empty() || times.front() <= 0) return;
  const auto [low, high] = std::minmax_element(times.begin(), times.end());
  constexpr double same = 1.001;
  if (*high > same * *low)
    found.info.notes.emplace_back(
        "ImageInfo/ExpTimes change from view to view; the counts are taken as if they did not");
  if (!flat || *flat <= 0 || std::max(*flat, times.front()) < same * std::min(*flat, times.front())) return;
  found.flats.front() = divided_frames(std::move(found.flats.front()), *flat / times.front());
  found.info.notes.push_back(
      words("flats, of ", *flat, " s, are scaled to the exposure of the views, ", times.front(), " s"));
}

/// Reads the shifts of images. Views of a parallel beam keep them as shifts. Images of a cone beam are moved
/// by whole pixels.
void read_shifts(const Zeiss& zeiss, Acquisition& found) {
  std::vector<double> x = zeiss.floats("Alignment/X-Shifts"), y = zeiss.floats("Alignment/Y-Shifts");
  const std::size_t views = zeiss.images();
  if (x.size() != views) x.assign(views, 0);
  if (y.size() != views) y.assign(views, 0);
  const auto least = [](const std::vector<double>& shifts) {
    double most = 0;
    for (const double shift : shifts) most = std::max(most, std::abs(shift));
    return most;
  };
  const double most = std::max(least(x), least(y));
  require<FileError>(most < std::max(zeiss.rows(), zeiss.bins()), zeiss.name(), ": Alignment: a shift of ",
                     most, " pixels; less than the detector has are needed");
  if (most == 0) return;
  if (found.kind == ParallelBeam::kind) {
    for (const double shift : x) found.bin_shifts.push_back(-shift);
    if (least(y) > 0 && zeiss.rows() > 1)
      for (const double shift : y) found.row_shifts.push_back(-shift);
    found.info.notes.emplace_back("views are moved by Alignment/X-Shifts and Y-Shifts");
    return;
  }
  std::vector<Move> moves;
  for (std::size_t k = 0; k < views; ++k) moves.push_back({std::lround(y[k]), std::lround(x[k])});
  const std::string where = zeiss.name() + ": flat";
  auto flat = found.flats.empty() ? constant_frame(where, 1, zeiss.rows(), zeiss.bins())
                                  : std::move(found.flats.front());
  if (!found.flats.empty()) found.flats.front() = constant_frame(where, 1, zeiss.rows(), zeiss.bins());
  found.projections.front() =
      moved_transmissions(std::move(found.projections.front()), std::move(flat), std::move(moves));
  found.info.notes.emplace_back("views are moved by Alignment/X-Shifts and Y-Shifts, in whole pixels");
}

/// Notes that the sample moved, if nothing says by how much images moved.
void note_moves(const Zeiss& zeiss, Acquisition& found) {
  const std::optional<double> pixel_um = zeiss.first("ImageInfo/PixelSize");
  if (zeiss.file()->size("Alignment/X-Shifts") || !pixel_um || *pixel_um <= 0) return;
  for (const char* stream : {"ImageInfo/XPosition", "ImageInfo/YPosition", "ImageInfo/ZPosition"}) {
    const std::vector<double> places = zeiss.floats(stream);
    const auto [low, high] = std::minmax_element(places.begin(), places.end());
    if (low == places.end() || *high - *low <= 0.5 * *pixel_um) continue;
    found.info.notes.push_back(words(stream, " changes by ", *high - *low, " microns: ", moved,
                                     ", and no Alignment/X-Shifts say by how many pixels"));
  }
}

std::optional<std::string> value_of(const Zeiss& zeiss, std::string_view key) {
  const std::string stream(key);
  if (stream == "ImageInfo/MosiacMode")
    return zeiss.file()->size(stream) ? std::optional(std::to_string(zeiss.whole(stream))) : std::nullopt;
  const std::optional<double> value = zeiss.first(stream);
  return value ? std::optional(words(*value)) : std::nullopt;
}

}  // namespace

extern const FieldTable zeiss_table{"Zeiss", zeiss_fields};

Acquisition open_txrm(const fs::path& path, const OpenOptions& options) {
  const Zeiss zeiss(path);
  Acquisition found;
  found.info.format = "Zeiss TXRM";
  read_angles(zeiss, found);
  require<FileError>(!found.angles.empty() || options.arc_deg || !options.angles.empty() ||
                         !zeiss.file()->size("ImageInfo/AcquisitionMode") ||
                         zeiss.whole("ImageInfo/AcquisitionMode") == 0,
                     path.string(), ": is a volume of Zeiss (AcquisitionMode), not a scan");
  heed(
      zeiss_fields, path.string(), [&](std::string_view key) { return value_of(zeiss, key); },
      found.info.notes);
  found.projections.push_back(zeiss.frames());
  if (zeiss.images() < zeiss.planned())
    found.info.notes.push_back(std::to_string(zeiss.images()) + " of the " + std::to_string(zeiss.planned()) +
                               " planned views were taken");
  read_geometry(zeiss, found);
  read_reference(zeiss, found);
  read_shifts(zeiss, found);
  note_moves(zeiss, found);
  return found;
}

FrameSources txrm_frames(const fs::path& path) {
  FrameSources sources;
  sources.push_back(Zeiss(path).frames());
  return sources;
}

}  // namespace tandem::io
