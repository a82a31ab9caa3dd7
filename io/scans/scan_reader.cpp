#include "scan_reader.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "../../core/error.hpp"
#include "../../core/names.hpp"
#include "../../core/spelled.hpp"
#include "../files/input_file.hpp"
#include "../files/text.hpp"
#include "../hdf5/rehearsal.hpp"
#include "changed_frames.hpp"
#include "frame_source.hpp"
#include "images/image.hpp"
#include "images/image_folder.hpp"
#include "inside_file.hpp"
#include "layouts/layout.hpp"
#include "matlab.hpp"
#include "settings/settings.hpp"
#include "zeiss/compound_file.hpp"
#include "zeiss/txrm.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

Index count_of(const FrameSources& sources) {
  Index count = 0;
  for (const auto& source : sources) count += source->shape()[0];
  return count;
}

/// The type in which all sources can be read: their own type if it is the same.
PixelType common_type(const FrameSources& sources, PixelType otherwise) {
  if (sources.empty()) return otherwise;
  const PixelType first = sources.front()->type();
  const bool same =
      std::all_of(sources.begin(), sources.end(), [&](const auto& s) { return s->type() == first; });
  return same ? first : PixelType::float32;
}

template <class T>
void floats_of(const std::byte* in, Index count, std::byte* out) {
  for (Index i = 0; i < count; ++i, in += sizeof(T), out += sizeof(float)) {
    T value;
    std::memcpy(&value, in, sizeof(T));
    const float number = static_cast<float>(value);
    std::memcpy(out, &number, sizeof(float));
  }
}

void check(const std::string& where, const char* what, Range range, Index count) {
  require<FileError>(0 <= range.first && range.first <= range.last && range.last <= count, where, ": ", what,
                     " ", range.first, ":", range.last, " are wanted; there are 0:", count);
}

/// Does work that reads metadata, and turns a lack of memory into a FileError. Metadata are small, and
/// `require_stored` has refused claims beyond the size of the file.
template <class Work>
auto within_memory(const std::string& where, Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw DeviceError(where + ": the host has no memory for its metadata; free memory, or raise ulimit -v");
  } catch (const std::length_error&) {
    throw FileError(where + ": claims sizes that no memory can hold; the file is damaged");
  } catch (const fs::filesystem_error& fault) {
    const std::string which = fault.path1().empty() ? where : fault.path1().string();
    throw FileError(which + ": cannot be read: " + fault.code().message());
  }
}

/// The reader of all layouts, which differ only in where their frames lie.
class SourcesReader : public ScanReader {
 public:
  SourcesReader(std::string name, ScanInfo info, FrameSources projections, FrameSources flats,
                FrameSources darks)
      : name_(std::move(name)), sources_{std::move(projections), std::move(flats), std::move(darks)} {
    info_ = std::move(info);
  }

  using ScanReader::read;
  void read(FrameKind kind, Range frames, Range rows, Range bins, Frames& into) override {
    FrameSources& sources = row_of(sources_, kind);
    const std::string where = sources.empty() ? name_ : sources.front()->where();
    constexpr std::array<const char*, 3> names{"views", "flats", "darks"};
    check(where, row_of(names, kind), frames, count_of(sources));
    check(where, "rows", rows, detector_of(info_.scan).rows);
    check(where, "bins", bins, detector_of(info_.scan).bins);
    try {
      read_checked(sources, frames, rows, bins, into);
    } catch (const std::bad_alloc&) {
      throw DeviceError(where + ": the host has no memory for the frames that are read at once; give " +
                        spelled("memory") + " GIB below what is free");
    } catch (const fs::filesystem_error& fault) {
      throw FileError(where + ": cannot be read: " + fault.code().message());
    }
  }

  std::optional<FramesView> in_memory(FrameKind kind, Range frames, Range rows, Range bins) override {
    const FrameSources& sources = row_of(sources_, kind);
    return sources.size() == 1 ? sources.front()->in_memory(frames, rows, bins) : std::nullopt;
  }

 private:
  void read_checked(FrameSources& sources, Range frames, Range rows, Range bins, Frames& out) const {
    out.type = common_type(sources, info_.type);
    out.shape = {frames.size(), rows.size(), bins.size()};
    out.first = frames.first;
    const std::size_t frame_bytes = rows.size() * bins.size() * bytes_of(out.type);
    out.bytes.resize(frames.size() * frame_bytes);
    Index before = 0;  // frames of the sources passed so far
    for (const auto& source : sources) {
      const Index count = source->shape()[0];
      const Range part{std::max(frames.first, before), std::min(frames.last, before + count)};
      if (part.size() > 0 && frame_bytes > 0)
        source->read_as(out.type, {part.first - before, part.last - before}, rows, bins,
                        out.bytes.data() + (part.first - frames.first) * frame_bytes);
      before += count;
    }
  }

  std::string name_;
  std::array<FrameSources, 3> sources_;
};

/// Requires that all frames have the size of the views. An image that is turned as a whole may have any
/// number of lines.
void require_same_size(const FrameSources& sources, const FrameSource& projections) {
  for (const auto& source : sources)
    require<FileError>(
        source->shape()[1] == projections.shape()[1] && source->shape()[2] == projections.shape()[2],
        source->where(), ": frames of ", source->shape()[1], " x ", source->shape()[2], " (rows x bins); ",
        projections.shape()[1], " x ", projections.shape()[2], " is needed as in ", projections.where());
}

/// The flats or darks that are wanted of a place.
struct Wanted {
  FrameKind kind;
  bool lines;        ///< whether views have one row: then each line of an image is a frame
  std::string name;  ///< data set or variable; empty: what the layout says
  bool allow_external_files;
  const std::optional<RawFrames>& raw;
};

/// A kind of file or folder that may hold a scan. The first kind that recognises a path opens it.
struct Place {
  bool (*recognises)(const fs::path& path);
  Acquisition (*open)(const fs::path& path, const OpenOptions& options);
  FrameSources (*frames)(const fs::path& path, const Wanted& wanted);  ///< null: it has none
  bool has_names = false;  ///< whether it has data sets or variables that have names
};

Acquisition open_hdf5(const fs::path& path, const OpenOptions& options) {
  return rehearsed(
      path, [&] { return acquisition_in(hdf5::File::open(path, options.allow_external_files), options); });
}

FrameSources frames_of_hdf5(const fs::path& path, const Wanted& wanted) {
  return rehearsed(path, [&] {
    const hdf5::File file = hdf5::File::open(path, wanted.allow_external_files);
    if (wanted.name.empty()) return frames_in(file, wanted.kind);
    if (file.text("/" + wanted.name, "MATLAB_class")) return matlab_frames(file, wanted.name, wanted.lines);
    FrameSources found;
    found.push_back(frames_named(file, wanted.name, wanted.lines));
    return found;
  });
}

FrameSources frames_of_images(const fs::path& path, const Wanted& wanted) {
  return image_frames(path, wanted.kind, wanted.lines, wanted.raw);
}

constexpr std::array places{
    Place{is_image_folder, open_image_folder, frames_of_images},
    Place{[](const fs::path& path) { return image_format_of(path) != nullptr; }, open_image_file,
          frames_of_images},
    Place{hdf5::is_hdf5, open_hdf5, frames_of_hdf5, true},
    Place{is_mat5, open_mat5,
          [](const fs::path& path, const Wanted& wanted) {
            return mat5_frames(path, wanted.name, wanted.lines);
          },
          true},
    Place{is_compound_file, open_txrm, [](const fs::path& path, const Wanted&) { return txrm_frames(path); }},
    Place{[](const fs::path& path) { return settings_format_of(path) != nullptr; }, open_settings, nullptr},
};

/// A file that has none of the formats, for --raw.
constexpr Place raw_place{nullptr, open_image_file, frames_of_images};

/// What to give in the place of files that have no public description, by their endings; empty for others.
std::string known_of(const fs::path& path) {
  const std::string ending = in_lower_case(path.extension().string());
  if (ending == ".rek")
    return ": a file of Fraunhofer EZRT or YXLON says nothing of the geometry; give " + spelled("raw") +
           " TYPE,BINSxROWS,header=2048, and " + spelled("geometry") + " cone, " + spelled("sod") + ", " +
           spelled("sdd") + ", " + spelled("pixel-size") + " and " + spelled("arc");
  if (ending == ".vgi" || ending == ".vgl")
    return ": belongs to a volume of VGStudio; give the images of the scan, or their file of settings";
  return {};
}

/// The kind of place that a path is. @throws FileError if it is none, or has no names where one is given
const Place& place_of(const fs::path& path, const std::string& name, bool raw) {
  if (!is_image_folder(path)) require_regular_file(path);
  const auto* place =
      std::find_if(places.begin(), places.end(), [&](const Place& p) { return p.recognises(path); });
  if (place == places.end() && raw) return raw_place;
  const std::string known = known_of(path);
  require<FileError>(place != places.end() || known.empty(), path.string(), known);
  require<FileError>(
      place != places.end(), path.string(),
      ": is neither HDF5 nor an image; a DXchange or NXtomo file, a scan of Zeiss (*.txrm), a ",
      image_format_names(), " file, a folder of such images or settings beside them (", settings_files(),
      ") are needed, or ", spelled("raw"), " for frames without a head");
  require<FileError>(name.empty() || place->has_names, path.string(), ": has no data sets; leave out :/",
                     name);
  return *place;
}

void add_frames(FrameSources& sources, FrameKind kind, const OpenOptions& options, Index rows) {
  for (const fs::path& path : kind == FrameKind::flat ? options.flats : options.darks) {
    const InsideFile inside = inside_file(path);
    const Place& place = place_of(inside.file, inside.name, options.raw.has_value());
    require<FileError>(place.frames, path.string(), ": holds no ",
                       kind == FrameKind::flat ? "flats" : "darks",
                       "; an image, a folder of images or an HDF5 file is needed");
    const Wanted wanted{kind, rows == 1, inside.name, options.allow_external_files, options.raw};
    for (auto& source : place.frames(inside.file, wanted)) sources.push_back(std::move(source));
  }
}

void require_motion(const Acquisition& found, const OpenOptions& options, const fs::path& path) {
  require<FileError>(!options.reversed_motion.any() || !found.moves.empty() || !found.bin_shifts.empty(),
                     path.string(), ": records no motion of the sample that is seen; leave ",
                     spelled("reverse-motion"), " out");
}

}  // namespace

std::unique_ptr<ScanReader> reader_of(const fs::path& path, Acquisition found, const OpenOptions& options,
                                      std::optional<Index> planned) {
  require<FileError>(count_of(found.projections) > 0, path.string(), ": has 0 views; at least 1 is needed");
  const Index own_flats = count_of(found.flats);
  const Index stored_rows = found.projections.front()->shape()[1];
  add_frames(found.flats, FrameKind::flat, options, stored_rows);
  add_frames(found.darks, FrameKind::dark, options, stored_rows);
  for (const FrameSources* sources : {&found.projections, &found.flats, &found.darks})
    for (const auto& source : *sources)
      found.info.notes.insert(found.info.notes.end(), source->notes.begin(), source->notes.end());
  require<FileError>(!options.time || found.times, path.string(),
                     ": has no times; leave out " + spelled("time"));
  require_motion(found, options, path);
  orient(found, found.orientation);
  orient(found, options.orientation);
  for (const FrameSources* sources : {&found.flats, &found.darks})
    require_same_size(*sources, *found.projections.front());
  found.info.scans_stored = found.times.value_or(1);
  found.info.views_stored = planned.value_or(count_of(found.projections));
  found.info.first_view = options.first_view, found.info.view_step = options.view_step;
  require<GeometryError>(options.first_view < found.info.views_stored, path.string(), ": view ",
                         options.first_view, " is wanted; there are ", found.info.views_stored,
                         ", counted from 0");
  if (planned && !(found.bin_shifts.empty() && found.row_shifts.empty() && found.moves.empty())) {
    found.bin_shifts.clear(), found.row_shifts.clear(), found.moves.clear();
    found.info.notes.emplace_back("the recorded shifts of the views are left out while the scan is written");
  }
  const Shape frame = found.projections.front()->shape();
  complete_geometry(found, options, {found.info.views_stored, frame[1], frame[2]});
  found.info.type = common_type(found.projections, PixelType::uint16);
  found.info.decoded_bytes = found.projections.front()->decoded_bytes();
  found.info.packing = found.projections.front()->packing();
  found.info.flats = count_of(found.flats);
  found.info.darks = count_of(found.darks);
  if (found.info.flats > 0 && found.info.darks == 0 && !found.corrected)
    found.info.notes.push_back("no darks: what the camera counts without a beam is taken for 0; give " +
                               spelled("darks"));
  if (found.info.flats > 1 && found.info.flats == found.info.views_stored)
    found.info.advice.push_back(
        {"flat-sets", "there are as many flats as views; if each is that of a view, give " +
                          spelled("flat-sets") + " each"});
  complete_times(found.info, own_flats, options, count_of(found.projections));
  if (options.view_step > 1) take_views(found, options.first_view, options.view_step);
  return std::make_unique<SourcesReader>(path.string(), std::move(found.info), std::move(found.projections),
                                         std::move(found.flats), std::move(found.darks));
}

void to_float(PixelType type, const std::byte* in, Index count, std::byte* out) {
  with_type(type, [&]<class T>(T) { floats_of<T>(in, count, out); });
}

void FrameSource::read_as(PixelType type, Range frames, Range rows, Range bins, std::byte* out) const {
  if (type_ == type) return read(frames, rows, bins, out);
  const Index count = frames.size() * rows.size() * bins.size();
  std::vector<std::byte> own(count * bytes_of(type_));
  read(frames, rows, bins, own.data());
  to_float(type_, own.data(), count, out);
}

std::unique_ptr<ScanReader> open_scan(const fs::path& path, const OpenOptions& options) {
  return within_memory(path.string(), [&] {
    InsideFile inside = inside_file(path);
    if (inside.name.empty()) inside.name = options.variable;
    OpenOptions named = options;
    named.variable = inside.name;
    const Place& place = place_of(inside.file, inside.name, named.raw.has_value());
    Acquisition found = place.open(inside.file, named);
    require<FileError>(!named.raw || found.info.format.starts_with("raw"), path.string(), ": has the format ",
                       found.info.format, ", which says itself how it is stored; leave ", spelled("raw"),
                       " out");
    return reader_of(path, std::move(found), named);
  });
}

}  // namespace tandem::io
