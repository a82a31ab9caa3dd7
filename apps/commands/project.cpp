// tandem project: the forward operator alone, volume to scan.

#include <cmath>
#include <cstring>
#include <iostream>

#include "../command.hpp"
#include "../command_line.hpp"
#include "../files.hpp"
#include "../progress.hpp"
#include "../scan_geometry.hpp"
#include "../scan_options.hpp"
#include "tandem/core/error.hpp"
#include "tandem/geometry/coverage.hpp"
#include "tandem/io/scan_writer.hpp"
#include "tandem/io/volume_file.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem/operators/ramp_filter.hpp"
#include "tandem_version.hpp"

namespace tandem::apps {

namespace {

struct ProjectOptions {
  Common common;
  GeometryOptions geometry;
  std::string volume, output, like, model = "pixel_driven";
  const CLI::App* command = nullptr;
  bool given(const char* option) const { return command->count(option) > 0; }
};

/// Where the rays run, and what is known of lengths.
struct Target {
  Scan scan;
  double voxel_pitch = 1;               ///< along x and y, in the unit of `scan`: mm, or bins
  std::optional<double> pixel_size_mm;  ///< nothing where lengths are in bins
};

/// The scan to make: that of --like, or of the geometry options. Its unit of length is the volume's: a volume
/// in 1/pixel is projected in bins, whatever the parallel beam is like; a cone beam needs one in 1/mm.
Target target_of(const ProjectOptions& o, const io::VolumeReader& volume) {
  const Shape n = volume.shape();
  std::optional<double> pitch = volume.pitch_mm();
  require<GeometryError>(pitch || !o.geometry.cone(), o.volume,
                         ": has no pitch, which a cone beam needs; make the volume with a pixel size");
  if (!pitch && volume.unit() == "1/mm") {
    pitch = o.geometry.pixel_size_mm;
    require<GeometryError>(pitch.has_value(), o.volume,
                           ": is in 1/mm, but has no pitch; give --pixel-size MM");
  }
  require<GeometryError>(pitch || !o.geometry.pixel_size_mm, "--pixel-size ",
                         o.geometry.pixel_size_mm.value_or(0), " mm: ", o.volume, " is in ", volume.unit(),
                         "; leave --pixel-size out, or make the volume with a pixel size");
  const double voxel = pitch.value_or(1);
  if (o.like.empty()) {
    const auto pixel = o.geometry.pixel_size_mm ? o.geometry.pixel_size_mm : pitch;
    return {scan_of(o.geometry, n[2], n[0], pixel.value_or(1)), voxel, pixel};
  }
  const auto reader = io::open_scan(o.like);
  const io::ScanInfo& info = reader->info();
  Target target{info.scan, voxel, pitch ? info.pixel_size_mm : std::nullopt};
  if (target.pixel_size_mm) return target;
  require<GeometryError>(std::holds_alternative<ParallelBeam>(info.scan), o.volume,
                         ": has no pitch, which the cone beam ", o.like,
                         " needs; make the volume with a pixel size");
  target.pixel_size_mm = pitch;
  detector_of(target.scan).bin_pitch = detector_of(target.scan).row_pitch = voxel;
  return target;
}

/// The rows that a chunk of slices is projected to. Slices of a parallel beam are rows; all of a cone beam's
/// fall on all its rows.
struct Part {
  Scan scan;
  Range slices, rows;
};

Part part_of(const Scan& scan, Range slices) {
  const Detector& d = detector_of(scan);
  if (std::holds_alternative<ConeBeam>(scan)) return {scan, slices, {0, d.rows}};
  const auto views = static_cast<Index>(angles_of(scan).size());
  return {crop(scan, {0, views}, slices, {0, d.bins}), slices, slices};
}

/// The rows of a scan where it records them: the projector has all on one axis.
LinearOperator projector_of(const ParallelBeam& scan, const VolumeGrid& grid, Model model) {
  LinearOperator A = projector(scan, grid, model);
  return scan.row_axis_bins.empty() ? A : adjoint(align_rows(scan)) * A;
}
LinearOperator projector_of(const ConeBeam& scan, const VolumeGrid& grid, Model) {
  return projector(scan, tall_for_fan(scan, grid));
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

/// Voxels as high as rows appear at the axis if they are as wide as bins appear there.
VolumeGrid grid_of(const Target& target, Shape n) {
  const Detector& d = detector_of(target.scan);
  const bool cone = std::holds_alternative<ConeBeam>(target.scan);
  require<GeometryError>(cone || d.rows == n[0], "project: ", d.rows, " rows for ", n[0],
                         " slices; a parallel beam has as many");
  const double pitch = target.voxel_pitch;
  return {{n[2], n[1], n[0]}, {pitch, pitch, cone ? pitch * d.row_pitch / d.bin_pitch : d.row_pitch}, {}};
}

void run_project(ProjectOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet);
  io::VolumeReader volume(o.volume);
  const Shape n = volume.shape();
  const Target target = target_of(o, volume);
  const bool cone = std::holds_alternative<ConeBeam>(target.scan);
  if (cone && o.given("--model")) throw GeometryError("--model goes with a parallel beam alone");
  const VolumeGrid grid = grid_of(target, n);
  const Model model = o.model == "joseph" ? Model::joseph : Model::pixel_driven;
  const Detector& detector = detector_of(target.scan);
  const Index views = static_cast<Index>(angles_of(target.scan).size()), bins = detector.bins;
  io::ScanWriter writer(o.output, target.scan, target.pixel_size_mm, io::PixelType::float32, 1, 1);
  for (Index z = 0, step = cone ? n[0] : 64; z < n[0]; z += step) {
    const auto [scan, slices, rows] = part_of(target.scan, {z, std::min(n[0], z + step)});
    progress("project", static_cast<double>(slices.first), static_cast<double>(n[0]));
    const VolumeGrid slab = region(grid, {0, n[2]}, {0, n[1]}, slices);
    const LinearOperator A = std::visit([&](const auto& s) { return projector_of(s, slab, model); }, scan);
    Array x(A.domain());
    volume.read(slices, x.data());
    const Array y = A * x;
    writer.write(io::FrameKind::projection, rows, frames_of(&y, y.space().shape(), 0));
    writer.write(io::FrameKind::flat, rows, frames_of(nullptr, {1, rows.size(), bins}, 1));
    writer.write(io::FrameKind::dark, rows, frames_of(nullptr, {1, rows.size(), bins}, 0));
    progress("project", static_cast<double>(slices.last), static_cast<double>(n[0]));
  }
  const nlohmann::json report = {{"command", "project"},
                                 {"version", TANDEM_VERSION},
                                 {"input", o.volume},
                                 {"output", o.output},
                                 {"model", cone ? "separable_footprint" : o.model},
                                 {"views", views},
                                 {"rows", detector.rows},
                                 {"bins", bins},
                                 {"axis_bin", detector.axis_bin}};
  writer.finish(text_of(report));
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "written   " << o.output << ": " << views << " views x " << detector.rows << " rows x "
              << bins << " bins\n";
}

}  // namespace

void add_project(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<ProjectOptions>();
  CLI::App& c = *program.add_subcommand("project", "Volume to scan: the forward operator alone");
  o->command = &c;
  heading(c, "Files");
  c.add_option("volume", o->volume, "HDF5 volume")->required();
  c.add_option("-o,--output", o->output, "DXchange file to write: transmission, flats 1, darks 0")
      ->required();
  add_geometry(c, o->geometry);
  c.add_option("--like", o->like, "take the geometry of this scan");
  add_choice(c, "--model", o->model, {"pixel_driven", "joseph"}, "default pixel_driven");
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
      check_files({{"the volume", o->volume}, {"--like", o->like}, {"--angles", o->geometry.angles_file}},
                  {{"-o", o->output}, {"--json", o->common.json}});
      run_project(*o);
    };
  });
}

}  // namespace tandem::apps
