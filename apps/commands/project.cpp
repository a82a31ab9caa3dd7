// tandem project: the forward operator alone, volume to scan.

#include <cmath>
#include <cstring>
#include <iostream>

#include "../command.hpp"
#include "../files.hpp"
#include "../progress.hpp"
#include "../scan_geometry.hpp"
#include "../scan_options.hpp"
#include "tandem/core/error.hpp"
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
};

/// Where the rays run, and what is known of lengths.
struct Target {
  ParallelBeam scan;
  double voxel_pitch = 1;               ///< along x and y, in the unit of `scan`: mm, or bins
  std::optional<double> pixel_size_mm;  ///< nothing where lengths are in bins
};

/// The scan to make: that of --like, or of the geometry options. Its unit of length is the volume's: a volume
/// in 1/pixel is projected in bins, whatever the scan is like.
Target target_of(const ProjectOptions& o, const io::VolumeReader& volume) {
  const Shape n = volume.shape();
  std::optional<double> pitch = volume.pitch_mm();
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
  require<GeometryError>(info.scan.detector.rows == n[0], o.like, ": ", info.scan.detector.rows, " rows for ",
                         n[0], " slices of ", o.volume, "; they must be as many");
  Target target{info.scan, voxel, pitch ? info.pixel_size_mm : std::nullopt};
  if (target.pixel_size_mm) return target;
  target.pixel_size_mm = pitch;
  target.scan.detector.bin_pitch = target.scan.detector.row_pitch = voxel;
  return target;
}

/// The rows of a scan where it records them: the projector has all on one axis.
LinearOperator rows_in_place(const ParallelBeam& scan, LinearOperator A) {
  return scan.row_axis_bins.empty() ? A : adjoint(align_rows(scan)) * A;
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

void run_project(ProjectOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet);
  io::VolumeReader volume(o.volume);
  const Shape n = volume.shape();
  const Target target = target_of(o, volume);
  const double pitch = target.voxel_pitch;
  const VolumeGrid grid{{n[2], n[1], n[0]}, {pitch, pitch, target.scan.detector.row_pitch}, {}};
  const Model model = o.model == "joseph" ? Model::joseph : Model::pixel_driven;
  const Index views = static_cast<Index>(target.scan.angles.size()), bins = target.scan.detector.bins;
  io::ScanWriter writer(o.output, target.scan, target.pixel_size_mm, io::PixelType::float32, 1, 1);
  for (Index z = 0; z < n[0]; z += 64) {
    const Range slices{z, std::min(n[0], z + 64)};
    const ParallelBeam scan = crop(target.scan, {0, views}, slices, {0, bins});
    const LinearOperator A =
        rows_in_place(scan, projector(scan, region(grid, {0, n[2]}, {0, n[1]}, slices), model));
    Array x(A.domain());
    volume.read(slices, x.data());
    const Array y = A * x;
    writer.write(io::FrameKind::projection, slices, frames_of(&y, y.space().shape(), 0));
    writer.write(io::FrameKind::flat, slices, frames_of(nullptr, {1, slices.size(), bins}, 1));
    writer.write(io::FrameKind::dark, slices, frames_of(nullptr, {1, slices.size(), bins}, 0));
    progress("project", static_cast<double>(slices.last), static_cast<double>(n[0]));
  }
  const nlohmann::json report = {{"command", "project"},
                                 {"version", TANDEM_VERSION},
                                 {"input", o.volume},
                                 {"output", o.output},
                                 {"model", o.model},
                                 {"views", views},
                                 {"rows", n[0]},
                                 {"bins", bins},
                                 {"axis_bin", target.scan.detector.axis_bin}};
  writer.finish(text_of(report));
  write_report(o.common, report);
  if (o.common.json != "-")
    std::cout << "written   " << o.output << ": " << views << " views x " << n[0] << " rows x " << bins
              << " bins\n";
}

}  // namespace

void add_project(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<ProjectOptions>();
  CLI::App& c = *program.add_subcommand("project", "Volume to scan: the forward operator alone");
  o->command = &c;
  add_common(c, o->common);
  c.add_option("volume", o->volume, "HDF5 volume")->required();
  c.add_option("-o,--output", o->output, "DXchange file to write: transmission, flats 1, darks 0")
      ->required();
  add_geometry(c, o->geometry);
  c.add_option("--like", o->like, "take the geometry of this scan");
  c.add_option("--model", o->model, "pixel_driven (default), joseph")
      ->check(CLI::IsMember({"pixel_driven", "joseph"}));
  c.callback([o, &chosen] {
    for (const char* option :
         {"--bins", "--views", "--arc", "--start", "--angles", "--axis-bin", "--pixel-size"})
      if (!o->like.empty() && o->command->count(option) > 0)
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
