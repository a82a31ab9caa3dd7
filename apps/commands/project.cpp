// tandem project: the forward operator alone, volume to scan.

#include <cmath>
#include <cstring>
#include <iostream>

#include "../command.hpp"
#include "../progress.hpp"
#include "../scan_geometry.hpp"
#include "../scan_options.hpp"
#include "tandem/core/error.hpp"
#include "tandem/io/scan_writer.hpp"
#include "tandem/io/volume_file.hpp"
#include "tandem/operators/algebra.hpp"
#include "tandem/operators/projector.hpp"
#include "tandem_version.hpp"

namespace tandem::apps {

namespace {

struct ProjectOptions {
  Common common;
  GeometryOptions geometry;
  std::string volume, output, like, model = "pixel_driven";
  const CLI::App* command = nullptr;
};

struct Target {
  ParallelBeam scan;
  std::optional<double> pixel_size_mm;
};

/// The scan to make: that of --like, or of the geometry options with the volume's own pitch.
Target target_of(const ProjectOptions& o, const io::VolumeReader& volume) {
  const Shape n = volume.shape();
  if (!o.like.empty()) {
    const auto reader = io::open_scan(o.like);
    const io::ScanInfo& info = reader->info();
    require<GeometryError>(info.scan.detector.rows == n[0], o.like, ": ", info.scan.detector.rows,
                           " rows for ", n[0], " slices of ", o.volume, "; they must be as many");
    return {info.scan, info.pixel_size_mm};
  }
  const auto pixel = o.geometry.pixel_size_mm ? o.geometry.pixel_size_mm : volume.pitch_mm();
  return {scan_of(o.geometry, n[2], n[0], pixel.value_or(1.0)), pixel};
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
  const double pitch = volume.pitch_mm().value_or(target.pixel_size_mm.value_or(1.0));
  const VolumeGrid grid{{n[2], n[1], n[0]}, {pitch, pitch, target.scan.detector.row_pitch}, {}};
  const Model model = o.model == "joseph" ? Model::joseph : Model::pixel_driven;
  const Index views = static_cast<Index>(target.scan.angles.size()), bins = target.scan.detector.bins;
  io::ScanWriter writer(o.output, target.scan, target.pixel_size_mm, io::PixelType::float32, 1, 1);
  for (Index z = 0; z < n[0]; z += 64) {
    const Range slices{z, std::min(n[0], z + 64)};
    const ParallelBeam scan = crop(target.scan, {0, views}, slices, {0, bins});
    const LinearOperator A = projector(scan, region(grid, {0, n[2]}, {0, n[1]}, slices), model);
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
  writer.finish(report.dump());
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
    chosen = [o] { run_project(*o); };
  });
}

}  // namespace tandem::apps
