// Files of beamline 8.3.2 of the ALS from the time before DXchange. A scan is a group, whose attributes are
// mostly texts, with a data set for each image. Names and numbers are those that dxchange reads (exchange.py,
// read_als_832h5). The sample turns the other way, so the sign of angles is changed, as the beamline's own
// reconstructions do.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "../../../core/error.hpp"
#include "../../../core/parallel.hpp"
#include "../../../core/rounding.hpp"
#include "../../../core/units.hpp"
#include "../../files/text.hpp"
#include "../../hdf5/rehearsal.hpp"
#include "../images/name_series.hpp"
#include "../recorded.hpp"
#include "../settings/key_values.hpp"
#include "layout.hpp"

namespace tandem::io {

namespace {

/// Attributes of the group; those of an image are written after IMAGE@.
constexpr Field als_fields[] = {
    {"nangles", "", Use::obeyed, "the number of views that were planned"},
    {"arange", "", Use::obeyed, "the arc in degrees, from the first view to the last one"},
    {"IMAGE@rot_angle", "", Use::obeyed, "the angle of a view in degrees, before arange if it changes"},
    {"nrays", "", Use::obeyed, "bins, which the images must have"},
    {"nslices", "", Use::obeyed, "rows, which the images must have"},
    {"pxsize", "", Use::obeyed, "pitch at the sample, in mm"},
    {"senergy", "", Use::obeyed, "energy of the photons, in eV; Inf is white light"},
    {"i0cycle", "", Use::obeyed, "how many views lie between flats: by the numbers in their names"},
    {"num_bright_field", "", Use::obeyed, "how many flats a set has: by their names"},
    {"num_dark_fields", "", Use::obeyed, "how many darks there are: by their names"},
    {"pgeometry", "PARALLEL", Use::refused, "only parallel beams are known of this beamline"},
    {"xbin", "1", Use::noted,
     "the pitch is taken as it is recorded; if it is that of single pixels, give {pixel-size}"},
    {"ybin", "1", Use::noted,
     "the pitch is taken as it is recorded; if it is that of single pixels, give {pixel-size}"},
    {"usebrightexpose", "0", Use::noted,
     "flats may have another time of exposure (brightexptime) than views (obstime), by which nothing is "
     "divided; give {air-columns}"},
    {"nhalfCir", "1", Use::noted, "all views are taken for one scan"},
    {"multiRev", "0", Use::noted, "all views are taken for one scan"},
    {"tile_xnumimg", "1", Use::noted, "the scan is one of several side by side; only this one is read"},
    {"tile_ynumimg", "1", Use::noted, "the scan is one of several along the axis; only this one is read"},
};

constexpr int max_depth_of_als = 4;  // how deep groups that are alone lie in one another
constexpr double seconds_an_image = 1e-3;
constexpr double largest_pitch_mm = 100, kev_per_ev = 1e-3;

/// An image "NAMEbak_0001_0512.tif". The second number is that of a view, and the first one counts the flats
/// or darks there.
struct Image {
  FrameKind kind = FrameKind::projection;
  std::string name, prefix;
  Index count = 0, view = 0;
};

/// The first line of a text, since messages have one line.
std::string first_line(const std::string& text) { return text.substr(0, text.find_first_of("\r\n")); }

/// Removes "_0512" from the end of a name, and returns the number.
std::optional<Index> taken_number(std::string& name) {
  const auto at = name.find_last_not_of("0123456789");
  Index number = 0;
  if (at == std::string::npos || name[at] != '_') return std::nullopt;
  const char *first = name.data() + at + 1, *end = name.data() + name.size();
  if (first == end || std::from_chars(first, end, number).ec != std::errc{}) return std::nullopt;
  name.resize(at);
  return number;
}

/// The image of a name in the group of a scan; empty for other names.
std::optional<Image> image_named(const std::string& name, const std::string& group) {
  constexpr std::string_view ending = ".tif";
  if (!name.ends_with(ending) || first_line(name) != name) return std::nullopt;
  Image image{.name = name, .prefix = name.substr(0, name.size() - ending.size())};
  const std::optional<Index> view = taken_number(image.prefix),
                             count = view ? taken_number(image.prefix) : view;
  if (!count) return std::nullopt;
  image.count = *count, image.view = *view;
  if (image.prefix == group) return image;
  if (image.prefix.ends_with("bak")) image.kind = FrameKind::flat;
  if (image.prefix.ends_with("drk")) image.kind = FrameKind::dark;
  return image;
}

/// The group of a scan: what its attributes say, and its images.
class Scan {
 public:
  /// Finds the group, which must be alone in the file, or alone in a group that is alone. Empty if there is
  /// none.
  static std::optional<Scan> in(const hdf5::File& file) {
    std::string path;
    for (int depth = 0; depth < max_depth_of_als; ++depth) {
      const std::vector<std::string> names = file.names(path.empty() ? "/" : path);
      if (names.size() != 1 || first_line(names.front()) != names.front()) return std::nullopt;
      path += "/" + names.front();
      if (Scan scan(file, path, names.front()); scan.text("nangles")) return scan;
    }
    return std::nullopt;
  }

  std::string where() const { return file_->name() + ": " + path_; }
  std::string path_of(const Image& image) const { return path_ + "/" + image.name; }

  /// An attribute of the group, which may be a text or a number.
  std::optional<std::string> text(const std::string& key) const {
    if (const std::optional<std::string> text = file_->text(path_, key))
      return first_line(std::string(trimmed(*text)));
    const std::optional<double> number = file_->number(path_, key);
    return number ? std::optional(words(*number)) : std::nullopt;
  }
  /// An attribute of an object that is a number, or a text of one.
  std::optional<double> number(const std::string& key, const std::string& object) const {
    const std::optional<double> number = file_->number(object, key);
    return number ? number : finite_number(trimmed(file_->text(object, key).value_or("")));
  }
  std::optional<double> number(const std::string& key) const { return number(key, path_); }

  /// The images of a kind in the order of views, and then of their counts there.
  std::vector<Image> images(FrameKind kind) const {
    std::vector<Image> found;
    for (const std::string& name : file_->names(path_))
      if (std::optional<Image> image = image_named(name, group_); image && image->kind == kind)
        found.push_back(std::move(*image));
    std::ranges::sort(found, {}, [](const Image& image) { return std::tuple(image.view, image.count); });
    return found;
  }

  /// The views of one scan. Views with the name of the group have precedence; of several tiles it takes the
  /// first one. @throws FileError if there are none
  std::vector<Image> views(std::vector<std::string>& notes) const;

  /// The images as one source; none for no images. @throws FileError unless they are alike
  FrameSources frames(const std::vector<Image>& images) const;

 private:
  Scan(const hdf5::File& file, std::string path, std::string group)
      : file_(&file), path_(std::move(path)), group_(std::move(group)) {}
  const hdf5::File* file_;
  std::string path_, group_;
};

std::vector<Image> Scan::views(std::vector<std::string>& notes) const {
  std::vector<Image> all = images(FrameKind::projection);
  require<FileError>(!all.empty(), where(), ": has no views; images named NAME_0000_0000.tif are needed");
  const Image first = *std::ranges::min_element(
      all, {}, [&](const Image& image) { return std::tuple(image.prefix != group_, image.count); });
  std::vector<std::string> others, names;
  std::erase_if(all, [&](const Image& image) {
    const bool other = image.prefix != first.prefix || image.count != first.count;
    (other ? others : names).push_back(image.name);
    return other;
  });
  for (const std::string& name : file_->names(path_))
    if (!image_named(name, group_)) others.push_back(name);
  if (!others.empty()) notes.push_back(where() + ": left out beside " + first.name + ": " + listed(others));
  if (const std::string fault = numbering_fault(names); !fault.empty())
    notes.push_back(where() + ": " + fault);
  return all;
}

/// Images one after the other, all alike.
class OneByOne final : public FrameSource {
 public:
  explicit OneByOne(FrameSources images)
      : FrameSource(images.front()->where(), images.front()->type(),
                    {std::ssize(images), images.front()->shape()[1], images.front()->shape()[2]}),
        images_(std::move(images)) {}
  std::size_t decoded_bytes() const override { return images_.front()->decoded_bytes(); }
  std::string packing() const override { return images_.front()->packing(); }
  void read(Range frames, Range rows, Range bins, std::byte* out) const override {
    const Index bytes = rows.size() * bins.size() * bytes_of(type());
    parallel_for(frames.size(), [&](Index k) {
      images_[frames.first + k]->read({0, 1}, rows, bins, out + k * bytes);
    });
  }

 private:
  FrameSources images_;
};

std::string words_of(const Shape& n, PixelType type) {
  return words(n[0], " x ", n[1], " x ", n[2], ", ", name_of(type));
}

FrameSources Scan::frames(const std::vector<Image>& images) const {
  FrameSources single, all;
  take_longer(seconds_an_image * images.size());
  for (const Image& image : images) {
    single.push_back(hdf5_frames(std::make_shared<hdf5::DataSet>(file_->data_set(path_of(image)))));
    const FrameSource &first = *single.front(), &last = *single.back();
    const std::string found = words_of(last.shape(), last.type()),
                      needed = words_of({1, first.shape()[1], first.shape()[2]}, first.type());
    require<FileError>(found == needed, last.where(), ": has ", found, " (image, row, bin); ", needed,
                       " is needed as in ", images.front().name);
  }
  if (!single.empty()) all.push_back(std::make_unique<OneByOne>(std::move(single)));
  return all;
}

FrameSources als_frames(const hdf5::File& file, FrameKind kind) {
  const std::optional<Scan> scan = Scan::in(file);
  return scan ? scan->frames(scan->images(kind)) : FrameSources{};
}

/// A whole number from 1 on; empty if it is missing. @throws FileError for anything else
std::optional<Index> count_of(const Scan& scan, const char* key) {
  const std::optional<std::string> text = scan.text(key);
  if (!text) return std::nullopt;
  constexpr double most = 1e9;
  const double number = scan.number(key).value_or(0);
  require<FileError>(number >= 1 && number <= most && number == std::floor(number), scan.where(), ": ", key,
                     " = ", *text, "; a whole number from 1 on is needed");
  return floor_index(number);
}

/// Requires the size of images that the file says. Images that were binned or cut would have another pitch.
void require_size(const Scan& scan, const FrameSource& views) {
  const Index rows = views.shape()[1], bins = views.shape()[2];
  const Index planned_rows = count_of(scan, "nslices").value_or(rows),
              planned_bins = count_of(scan, "nrays").value_or(bins);
  require<FileError>(rows == planned_rows && bins == planned_bins, views.where(), ": has ", rows, " x ", bins,
                     " pixels (rows x bins); nslices x nrays, ", planned_rows, " x ", planned_bins,
                     ", are needed");
}

/// Sets the angles of views: those of their images if these change, else equal steps by their numbers. The
/// scan has none if the file does not give them.
void read_angles(const Scan& scan, const std::vector<Image>& views, Acquisition& found) {
  const Index planned = count_of(scan, "nangles").value_or(std::ssize(views));
  if (std::ssize(views) != planned)
    found.info.notes.push_back(words(scan.where(), ": ", views.size(), " views are there, of ", planned,
                                     " that were planned (nangles)"));
  std::vector<double> degrees;
  for (const Image& view : views)
    if (const auto angle = scan.number("rot_angle", scan.path_of(view))) degrees.push_back(*angle);
  const bool change =
      degrees.size() == views.size() && std::ranges::count(degrees, degrees.front()) < std::ssize(degrees);
  found.angles_where = scan.where() + (change ? "/" + views.front().name + "@rot_angle" : "@arange");
  const std::optional<double> arc = scan.number("arange");
  if (!change) degrees.clear();
  if (!change && arc)
    for (const Image& view : views) degrees.push_back(*arc * view.view / std::max<Index>(planned - 1, 1));
  for (const double angle : degrees) found.angles.push_back(-in_radians(angle));
}

void read_lengths(const Scan& scan, ScanInfo& info) {
  const auto positive = [&](const char* key, double most) -> std::optional<double> {
    const std::optional<double> value = scan.number(key);
    if (value && *value > 0 && *value <= most) return value;
    if (value)
      info.notes.push_back(scan.where() + ": " + key + " = " + *scan.text(key) +
                           " is left out: a number above 0 is needed");
    return std::nullopt;
  };
  info.pixel_size_mm = positive("pxsize", largest_pitch_mm);
  if (const auto energy = positive("senergy", 1e9)) info.energy_kev = *energy * kev_per_ev;
}

/// Sets times. A flat was taken before the view with its number, or after the last view.
void read_times(const std::vector<Image>& views, const std::vector<Image>& flats, ScanInfo& info) {
  for (const Image& view : views) info.times.views.push_back(view.view);
  for (const Image& flat : flats)
    info.times.flats.push_back(flat.view + (flat.view < views.back().view ? -0.5 : 0.5));
}

std::optional<Acquisition> find_als(const hdf5::File& file, const OpenOptions&) {
  const std::optional<Scan> scan = Scan::in(file);
  if (!scan) return std::nullopt;
  Acquisition found;
  std::vector<std::string>& notes = found.info.notes;
  const std::vector<Image> views = scan->views(notes), flats = scan->images(FrameKind::flat);
  found.projections = scan->frames(views);
  found.flats = scan->frames(flats);
  found.darks = scan->frames(scan->images(FrameKind::dark));
  note_absolute_link(file, scan->path_of(views.front()), notes);
  require_size(*scan, *found.projections.front());
  read_angles(*scan, views, found);
  read_lengths(*scan, found.info);
  read_times(views, flats, found.info);
  const auto said = [&](std::string_view key) {  // 0 means that nothing is said
    const std::optional<std::string> text = scan->text(std::string(key));
    return text && finite_number(*text) == 0.0 ? std::nullopt : text;
  };
  heed(als_fields, scan->where(), said, notes);
  return found;
}

}  // namespace

Layout als_layout() {
  return {.name = "ALS 8.3.2",
          .needed = {"a scan of beamline 8.3.2 of the ALS", "NAMEbak_0000_0000.tif of the ALS",
                     "NAMEdrk_0000_0000.tif of the ALS"},
          .fields = als_fields,
          .find = find_als,
          .frames = als_frames};
}

}  // namespace tandem::io
