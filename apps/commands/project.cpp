// tandem project: the forward operator alone, volume to scan.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iostream>

#include "../../core/error.hpp"
#include "../../core/version.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/projector.hpp"
#include "../beams/beam.hpp"
#include "../command.hpp"
#include "../options/command_line.hpp"
#include "../options/files.hpp"
#include "../options/geometry_options.hpp"
#include "../options/scan_options.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

namespace {

struct ProjectOptions {
  Common common;
  GeometryOptions geometry;
  std::string volume, output, like, model = "pixel_driven";
  bool any_external = false;
  const CLI::App* command = nullptr;
  bool given(const char* option) const { return command->count(option) > 0; }
};

/// What is projected where. Lengths are in mm or, where the volume knows none, in bins.
struct Target {
  Scan scan;
  VolumeGrid grid;
  std::optional<double> pixel_size_mm;  ///< nothing where lengths are in bins
  double attenuation = 1;               ///< for each unit of length, of a voxel's value
  Index first_row = 0;                  ///< of a parallel beam: where slice 0 falls; may lie outside
};

/// Voxels of which the file says nothing but perhaps their pitch are cubes around the axis.
VolumeGrid centred_grid(const ProjectOptions& o, const io::VolumeReader& volume) {
  const Shape n = volume.shape();
  std::optional<double> pitch = volume.pitch_mm();
  if (!pitch && volume.unit() == "1/mm") pitch = o.geometry.pixel_size_mm;
  require<GeometryError>(pitch || volume.unit() != "1/mm", o.volume,
                         ": is in 1/mm, but has no pitch; give --pixel-size MM");
  return {{n[2], n[1], n[0]}, {pitch.value_or(1), pitch.value_or(1), pitch.value_or(1)}, {}};
}

/// As many bins as the full grid has voxels along x. Rows where the geometry options have them; else those of
/// the full grid, or, of a parallel beam, a row a slice.
Scan scan_of(const ProjectOptions& o, const VolumeGrid& grid, const std::optional<io::VolumePlace>& place) {
  const std::array<Index, 3> size = place ? place->full_size : grid.size;
  const bool apart = beam_named(o.geometry.geometry).rows_are_slices;
  Scan scan = scan_of(o.geometry, size[0], apart ? grid.size[2] : size[2],
                      o.geometry.pixel_size_mm.value_or(grid.pitch[0]));
  if (apart) detector_of(scan).row_pitch = grid.pitch[2];
  return scan;
}

/// The rays of --like. Where scan and volume do not both know mm, bins are as wide as voxels in mm, or
/// lengths are in bins.
void take_scan(Target& target, const ProjectOptions& o, bool in_mm) {
  const auto reader = io::open_scan(o.like, {.allow_external_files = o.any_external});
  const io::ScanInfo& info = reader->info();
  target.scan = info.scan;
  if (in_mm && info.pixel_size_mm) {
    target.pixel_size_mm = info.pixel_size_mm;
    return;
  }
  require<GeometryError>(!needs_mm(info.scan), o.volume, ": has no pitch, which the cone beam ", o.like,
                         " needs; make the volume with a pixel size");
  Detector& d = detector_of(target.scan);
  d.bin_pitch = in_mm ? target.grid.pitch[0] : 1;
  d.row_pitch = in_mm ? target.grid.pitch[2] : 1;
  if (in_mm) target.pixel_size_mm = d.bin_pitch;
}

/// The row on which slice 0 of a parallel beam falls: as far from the detector's middle as the slice is from
/// z = 0. Where the file does not say, each row has its slice.
Index first_row(const Target& target, bool placed) {
  const Detector& d = detector_of(target.scan);
  const VolumeGrid& g = target.grid;
  require<GeometryError>(placed || d.rows == g.size[2], "project: ", d.rows, " rows for ", g.size[2],
                         " slices; a parallel beam has one row per slice");
  if (!placed) return 0;
  constexpr double exact = 1e-3;  // rows
  const double pitches = g.pitch[2] / d.row_pitch;
  require<GeometryError>(
      std::abs(pitches - 1) * static_cast<double>(g.size[2]) <= exact, "project: slices are ", pitches,
      " rows apart; in a parallel beam each slice is a row, so give a scan with their pitch");
  const double row = g.z(0) / d.row_pitch + 0.5 * static_cast<double>(d.rows - 1);
  const double last = row + static_cast<double>(g.size[2] - 1);
  require<GeometryError>(last > -0.5 && row < static_cast<double>(d.rows) - 0.5,
                         "project: the slices fall on rows ", row, " to ", last, ", the detector has 0 to ",
                         d.rows - 1, "; leave out --rows to have one row per slice");
  require<GeometryError>(std::abs(row - std::round(row)) <= exact, "project: slice 0 falls on row ", row,
                         ", between two rows; a parallel beam needs slices on rows");
  return static_cast<Index>(std::lround(row));
}

/// The scan to make: that of --like, or of the geometry options, and the volume where its file says it lies.
Target target_of(const ProjectOptions& o, const io::VolumeReader& volume) {
  const std::optional<io::VolumePlace> place = volume.place();
  Target target;
  target.grid = place ? place->grid : centred_grid(o, volume);
  const bool in_mm = volume.unit() == "1/mm" || volume.pitch_mm();
  const Beam& beam = beam_named(o.geometry.geometry);
  require<GeometryError>(in_mm || !beam.needs_mm, o.volume, ": has no pitch, which a ", beam.kind,
                         " beam needs; make the volume with a pixel size");
  require<GeometryError>(in_mm || !o.geometry.pixel_size_mm, "--pixel-size ",
                         o.geometry.pixel_size_mm.value_or(0), " mm: ", o.volume, " is in ", volume.unit(),
                         "; leave --pixel-size out, or make the volume with a pixel size");
  if (!in_mm) target.attenuation = 1 / target.grid.pitch[0];
  if (o.like.empty()) {
    target.scan = scan_of(o, target.grid, place);
    if (in_mm) target.pixel_size_mm = detector_of(target.scan).bin_pitch;
  } else {
    take_scan(target, o, in_mm);
  }
  const Detector& d = detector_of(target.scan);
  const bool apart = rows_are_slices(target.scan);
  if (!place)  // as high as rows appear at the axis if they are as wide as bins appear there
    target.grid.pitch[2] = apart ? d.row_pitch : target.grid.pitch[0] * d.row_pitch / d.bin_pitch;
  if (apart) target.first_row = first_row(target, place && (!o.like.empty() || o.geometry.rows));
  return target;
}

/// Rows, and the slices that fall on them: none where the volume ends before the detector.
struct Part {
  Range rows, slices;
};

/// All rows, in parts that memory holds. Where rays cross slices, all slices fall on all rows.
std::vector<Part> parts_of(const Target& target) {
  const Index rows = detector_of(target.scan).rows, slices = target.grid.size[2];
  if (!rows_are_slices(target.scan)) return {{{0, rows}, {0, slices}}};
  const Index low = std::max<Index>(0, target.first_row), high = std::min(rows, target.first_row + slices);
  std::vector<Part> parts;
  for (const Range range : {Range{0, low}, Range{low, high}, Range{high, rows}})
    for (Index row = range.first; row < range.last; row += 64) {
      const Range some{row, std::min(range.last, row + 64)};
      const bool met = range.first == low && low < high;
      parts.push_back(
          {some, met ? Range{some.first - target.first_row, some.last - target.first_row} : Range{0, 0}});
    }
  return parts;
}

/// What the rows of a part see.
Scan scan_of(const Target& target, const Part& part) {
  if (!rows_are_slices(target.scan)) return target.scan;
  const Index views = views_of(target.scan);
  return crop(target.scan, {0, views}, part.rows, {0, detector_of(target.scan).bins});
}

/// Transmission exp(-y), as a noise-free simulation writes it: flats 1, darks 0.
io::Frames frames_of(const Array* lines, Shape shape, float constant) {
  io::Frames frames{io::PixelType::float32, shape, {}};
  frames.bytes.resize(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]) * sizeof(float));
  std::vector<float> values(frames.bytes.size() / sizeof(float), constant);
  if (lines)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::exp(-lines->data()[i]);
  std::memcpy(frames.bytes.data(), values.data(), frames.bytes.size());
  return frames;
}

/// Line integrals of a part; nothing where no slice falls on its rows.
std::optional<Array> lines_of(const Target& target, const Part& part, const std::string& model,
                              io::VolumeReader& volume) {
  if (part.slices.size() == 0) return std::nullopt;
  const VolumeGrid& grid = target.grid;
  const VolumeGrid slab = region(grid, {0, grid.size[0]}, {0, grid.size[1]}, part.slices);
  const Scan scan = scan_of(target, part);
  const LinearOperator A = beam_of(scan).projector(scan, slab, model);
  Array x(A.domain());
  volume.read(part.slices, x.data());
  for (Index i = 0; i < x.size(); ++i)
    x.data()[i] = static_cast<float>(target.attenuation * static_cast<double>(x.data()[i]));
  return A * x;
}

void write_scan(const Target& target, const std::string& model, io::VolumeReader& volume,
                io::ScanWriter& writer, ProgressLine& progress) {
  const Detector& d = detector_of(target.scan);
  const Index views = views_of(target.scan);
  const auto tell = [&](Index rows) {
    progress("project", static_cast<double>(rows), static_cast<double>(d.rows), "rows");
  };
  for (const Part& part : parts_of(target)) {
    const Range rows = part.rows;
    tell(rows.first);
    const std::optional<Array> y = lines_of(target, part, model, volume);
    writer.write(io::FrameKind::projection, rows,
                 frames_of(y ? &*y : nullptr, {views, rows.size(), d.bins}, 1));
    writer.write(io::FrameKind::flat, rows, frames_of(nullptr, {1, rows.size(), d.bins}, 1));
    writer.write(io::FrameKind::dark, rows, frames_of(nullptr, {1, rows.size(), d.bins}, 0));
    tell(rows.last);
  }
}

/// Of all kinds of beams.
std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const Beam& beam : beams()) names.insert(names.end(), beam.models.begin(), beam.models.end());
  return names;
}

void run_project(ProjectOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  io::VolumeReader volume(o.volume, o.any_external);
  volume.require_complete();
  const Target target = target_of(o, volume);
  const bool has_models = !beam_of(target.scan).models.empty();
  if (!has_models && o.given("--model")) throw GeometryError("--model goes with a parallel beam only");
  const Detector& detector = detector_of(target.scan);
  const Index views = views_of(target.scan);
  io::ScanWriter writer({o.output, io::Content::scan, o.common.replace()}, target.scan, target.pixel_size_mm,
                        io::PixelType::float32, 1, 1);
  write_scan(target, o.model, volume, writer, progress);
  const nlohmann::json report = {
      {"command", "project"},  {"version", TANDEM_VERSION},
      {"input", o.volume},     {"source", source_json(o.common, o.volume)},
      {"output", o.output},    {"model", has_models ? o.model : "separable_footprint"},
      {"views", views},        {"rows", detector.rows},
      {"bins", detector.bins}, {"axis_bin", or_null(axis_of(target.scan))}};
  writer.finish(text_of(report));
  progress.clear();
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "written   " << o.output << ": " << views << " views x " << detector.rows << " rows x "
              << detector.bins << " bins\n";
}

}  // namespace

void add_project(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<ProjectOptions>();
  CLI::App& c = *program.add_subcommand("project", "Volume to scan: the forward operator alone");
  o->command = &c;
  heading(c, "Files");
  c.add_option("volume", o->volume, "volume: HDF5, or TIFF by the name of a slice")->required();
  c.add_option("-o,--output", o->output, "DXchange file to write: transmission, flats 1, darks 0")
      ->required();
  add_external_files(c, o->any_external);
  add_geometry(c, o->geometry);
  c.add_option("--like", o->like, "take the geometry of this scan");
  add_choice(c, "--model", o->model, models(), "default pixel_driven");
  add_common(c, o->common);
  c.footer(
      "Examples:\n"
      "  tandem project volume.h5 -o again.h5 --like scan.h5\n"
      "  tandem project volume.h5 -o few.h5 --views 30");
  c.callback([o, &chosen] {
    for (const char* option : {"--geometry", "--bins", "--rows", "--views", "--arc", "--start", "--angles",
                               "--axis-bin", "--midplane-row", "--sod", "--sdd", "--pixel-size"})
      if (!o->like.empty() && o->given(option))
        throw UsageError(std::string("--like does not go with ") + option);
    require_scan_name({"-o", o->output});
    chosen = [o] {
      check_files(o->common,
                  {{"the volume", o->volume}, {"--like", o->like}, {"--angles", o->geometry.angles_file}},
                  {{"-o", o->output, io::Content::scan}});
      run_project(*o);
    };
  });
}

}  // namespace tandem::apps
