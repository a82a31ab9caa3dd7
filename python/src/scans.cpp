#include <cstring>
#include <mutex>

#include "../../core/error.hpp"
#include "../../io/scans/geometries/geometry_file.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

using Ends = std::pair<Index, Index>;

Range range_of(const Ends& ends) { return {ends.first, ends.second}; }

io::FrameKind kind_named(const std::string& name) {
  if (name == "projections") return io::FrameKind::projection;
  return name == "flats" ? io::FrameKind::flat : io::FrameKind::dark;
}

/// A file from which several threads may read.
struct ScanFile {
  std::unique_ptr<io::ScanReader> reader;
  std::mutex mutex{};
};

ScanFile* open_file(const std::string& path, std::optional<double> pixel_size_mm,
                    std::optional<double> sod_mm, std::optional<double> sdd_mm,
                    std::optional<double> midplane_row, std::optional<double> arc_degrees,
                    std::optional<Index> time, bool allow_external_files) {
  io::OpenOptions how;
  how.pixel_size_mm = pixel_size_mm;
  how.sod_mm = sod_mm;
  how.sdd_mm = sdd_mm;
  how.midplane_row = midplane_row;
  how.arc_deg = arc_degrees;
  how.time = time;
  how.allow_external_files = allow_external_files;
  const Released released;
  return new ScanFile{io::open_scan(path, how)};
}

void read_frames(ScanFile& file, const std::string& kind, const Ends& frames, const Ends& rows,
                 const Ends& bins, Address to) {
  const Released released;
  const std::lock_guard lock(file.mutex);
  const io::Frames read =
      file.reader->read(kind_named(kind), range_of(frames), range_of(rows), range_of(bins));
  std::memcpy(reinterpret_cast<void*>(to), read.bytes.data(), read.bytes.size());
}

/// Frames of floats in memory: (kind, address, count).
using Given = std::vector<std::tuple<std::string, Address, Index>>;

/// Writes a scan of floats: transmissions with flats and darks, or line integrals.
void write_scan(const std::string& path, const Scan& scan, std::optional<double> pixel_size_mm,
                const Given& frames) {
  const Released released;
  const Detector& detector = detector_of(scan);
  Index flats = 0, darks = 0;
  for (const auto& [kind, address, count] : frames)
    if (kind != "projections") (kind == "flats" ? flats : darks) = count;
  io::ScanWriter writer(io::Output(path, io::Content::scan), scan, pixel_size_mm, PixelType::float32, flats,
                        darks);
  for (const auto& [kind, address, count] : frames) {
    io::Frames whole{PixelType::float32, {count, detector.rows, detector.bins}, {}};
    whole.bytes.resize(count * detector.rows * detector.bins * sizeof(float));
    std::memcpy(whole.bytes.data(), reinterpret_cast<const void*>(address), whole.bytes.size());
    writer.write(kind_named(kind), {0, detector.rows}, whole);
  }
  writer.finish("{}");
}

/// The shape of a volume in a file, which is asked for before its voxels.
Shape shape_of_volume(const std::string& path) {
  const Released released;
  io::VolumeReader reader(path);
  reader.require_complete();
  return reader.shape();
}

void read_volume(const std::string& path, Address to) {
  const Released released;
  io::VolumeReader reader(path);
  reader.require_complete();
  reader.read({0, reader.shape()[0]}, reinterpret_cast<float*>(to));
}

/// The place of the voxels of a file, and whether lengths are in mm; empty if the file does not say it.
std::optional<std::pair<VolumeGrid, bool>> place_of_volume(const std::string& path) {
  const Released released;
  const auto place = io::VolumeReader(path).place();
  if (!place) return std::nullopt;
  return std::pair{place->grid, place->in_mm};
}

/// Writes a volume of floats in the format of the name.
void write_volume(const std::string& path, Address from, const VolumeGrid& grid, bool in_mm, bool replace) {
  const Released released;
  io::VolumeFormat format;
  format.place = io::whole_place(grid, in_mm);
  const Shape shape = grid.shape();
  const auto writer =
      io::create_volume(path, shape, format, "{}", replace ? io::Replace::any : io::Replace::own);
  writer->write({0, shape[0]}, reinterpret_cast<const float*>(from));
  writer->finish("{}");
}

/// The scan of a file with the geometry of each view. `detector` has what the file does not say.
Scan scan_of_geometry(const std::string& path, const std::optional<Detector>& detector) {
  const Released released;
  io::ViewGeometry views = io::read_geometry_file(io::geometry_named(path));
  require<GeometryError>(detector || (views.bins && views.rows && !views.unit_steps), path,
                         ": says nothing of the cells; give detector=Detector(bins, rows, bin_pitch=MM)");
  Detector cells = detector.value_or(Detector{});
  if (views.bins) cells.bins = *views.bins;
  if (views.rows) cells.rows = *views.rows;
  const std::optional<double> pitch = detector ? std::optional(cells.bin_pitch) : std::nullopt;
  return io::scan_of_views(std::move(views), cells, pitch, false);
}

}  // namespace

void add_scans(nb::module_& m) {
  const auto info = [](const ScanFile& file) -> const io::ScanInfo& { return file.reader->info(); };
  nb::class_<ScanFile>(m, "ScanFile")
      .def_prop_ro("format", [=](const ScanFile& f) { return info(f).format; })
      .def_prop_ro("scan", [=](const ScanFile& f) { return info(f).scan; })
      .def_prop_ro("dtype", [=](const ScanFile& f) { return std::string(name_of(info(f).type)); })
      .def_prop_ro("flats", [=](const ScanFile& f) { return info(f).flats; })
      .def_prop_ro("darks", [=](const ScanFile& f) { return info(f).darks; })
      .def_prop_ro("pixel_size_mm", [=](const ScanFile& f) { return info(f).pixel_size_mm; })
      .def_prop_ro("axis_bin", [=](const ScanFile& f) { return info(f).axis_bin; })
      .def_prop_ro("energy_kev", [=](const ScanFile& f) { return info(f).energy_kev; })
      .def_prop_ro("notes",
                   [=](const ScanFile& f) {
                     std::vector<std::string> notes = info(f).notes;
                     if (!info(f).axis_note.empty()) notes.push_back(info(f).axis_note);
                     for (const io::Advice& advice : info(f).advice) notes.push_back(advice.text);
                     return notes;
                   })
      .def("read", &read_frames);
  m.def("open_file", &open_file, "path"_a, "pixel_size_mm"_a.none(), "sod_mm"_a.none(), "sdd_mm"_a.none(),
        "midplane_row"_a.none(), "arc_degrees"_a.none(), "time"_a.none(), "allow_external_files"_a);
  m.def("write_scan", &write_scan, "path"_a, "scan"_a, "pixel_size_mm"_a.none(), "frames"_a);
  m.def("shape_of_volume", &shape_of_volume);
  m.def("read_volume", &read_volume);
  m.def("scan_of_geometry", &scan_of_geometry, "path"_a, "detector"_a.none());
  m.def("geometry_text",
        [](const std::string& path, const Scan& scan) { return io::geometry_text(path, scan); });
  m.def("place_of_volume", &place_of_volume);
  m.def("write_volume", &write_volume);
}

}  // namespace tandem::python
