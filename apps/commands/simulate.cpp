// tandem simulate: a scan with known truth.

#include <algorithm>
#include <iostream>
#include <string>

#include "../../core/error.hpp"
#include "../../core/process_memory.hpp"
#include "../../core/rounding.hpp"
#include "../../core/version.hpp"
#include "../../counts/steps/simulated_beam.hpp"
#include "../../io/scans/scan_writer.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../options/steps.hpp"
#include "../../pipeline/simulate.hpp"
#include "../command.hpp"
#include "../options/geometry_options.hpp"
#include "../reports/scan_report.hpp"
#include "../runs/files.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

namespace {

struct SimulateOptions {
  Common common;
  GeometryOptions geometry;
  pipeline::Simulation simulation;
  pipeline::StepValues beam;
  Index size = 256;
  std::string output, truth;
};

constexpr double chunk_bytes = 256e6;

/// The number of rows at once whose frames, with `bytes_a_row` for each row, stay within a fixed memory.
Index rows_at_once(double bytes_a_row, Index rows) {
  return std::clamp<Index>(floor_index(chunk_bytes / bytes_a_row), 1, rows);
}

/// The grid of --size; or the grid of `recon`, if it is larger and has the same voxels.
VolumeGrid grid_of_truth(const pipeline::Simulation& s, ProgressLine& progress) {
  VolumeGrid grid = s.grid;
  const Index own = grid.size[0], fitting = fitting_grid(s.scan).size[0];
  if ((fitting - own) % 2 != 0)
    progress.note("note: --truth: recon makes " + std::to_string(fitting) + " x " + std::to_string(fitting) +
                  " voxels of this scan; to compare them with the truth, give it --size " +
                  std::to_string(own));
  else
    grid.size[0] = grid.size[1] = std::max(own, fitting);
  return grid;
}

void write_truth(const SimulateOptions& o, const pipeline::SimulatedScan& simulated, ProgressLine& progress) {
  const VolumeGrid grid = grid_of_truth(simulated.simulation(), progress);
  const io::VolumeFormat format{.place = io::whole_place(grid, is_in_mm(o.geometry))};
  auto writer = io::create_volume(o.truth, grid.shape(), format, "{\"content\":\"exact pixel averages\"}",
                                  o.common.replace());
  const Index area = grid.size[0] * grid.size[1];
  const Index step = rows_at_once(4.0 * area, grid.size[2]);
  std::vector<float> slab;
  for (Index z = 0; z < grid.size[2]; z += step) {
    const Range slices{z, std::min(grid.size[2], z + step)};
    slab.resize(slices.size() * area);
    simulated.truth(grid, slices, slab);
    writer->write(slices, slab.data());
    progress("truth", slices.last, grid.size[2]);
  }
  writer->finish("{}");
  progress.clear();
  if (o.common.tells()) std::cout << "truth     " << io::files_written(o.truth, {0, grid.size[2]}) << '\n';
}

/// The bytes of one row of all views; memory has to hold a few such rows. @throws DeviceError if it does not
/// hold one
double bytes_of_row(const pipeline::Simulation& s) {
  const double bytes = (s.dense_above ? 12.0 : 8.0) * detector_of(s.scan).bins * views_of(s.scan);
  require<DeviceError>(bytes < spare_host_memory(), "simulate: one row of all views takes ", bytes * 1e-9,
                       " GB, more than is free; give fewer --views or --bins");
  return bytes;
}

void write_frames(const pipeline::SimulatedScan& simulated, Index step, io::ScanWriter& writer,
                  ProgressLine& progress) {
  const pipeline::Simulation& s = simulated.simulation();
  const Index all = detector_of(s.scan).rows;
  progress("simulate", 0, all, "rows");
  for (Index row = 0; row < all; row += step) {
    const Range rows{row, std::min(all, row + step)};
    for (io::FrameKind kind : {io::FrameKind::projection, io::FrameKind::flat, io::FrameKind::dark})
      if (kind == io::FrameKind::projection || (kind == io::FrameKind::flat ? s.flats : s.darks) > 0)
        writer.write(kind, rows, simulated.frames(kind, rows));
    progress("simulate", rows.last, all, "rows");
  }
}

nlohmann::json report_of_scan(const SimulateOptions& o) {
  const pipeline::Simulation& s = o.simulation;
  const Detector& detector = detector_of(s.scan);
  nlohmann::json beam;  // null: one energy
  for (const auto& [name, value] : o.beam)
    std::visit(
        [&, key = name](const auto& given) {
          if constexpr (requires { beam[key] = given; }) beam[key] = given;
        },
        value);
  return {{"command", "simulate"},
          {"version", TANDEM_VERSION},
          {"output", o.output},
          {"phantom", s.phantom},
          {"geometry", kind_of(s.scan)},
          {"views", views_of(s.scan)},
          {"rows", detector.rows},
          {"bins", detector.bins},
          {"axis_bin", or_null(axis_of(s.scan))},
          {"max_attenuation", s.max_attenuation},
          {"beam", beam},
          {"photons", or_null(s.photons)},
          {"seed", s.seed}};
}

void run_simulate(SimulateOptions& o) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common);
  pipeline::Simulation& s = o.simulation;
  o.geometry.seed = s.seed;
  s.beam = pipeline::simulated_beam(o.beam), s.dense_above = pipeline::simulated_dense_above(o.beam);
  std::string note;
  s.scan = scan_of(o.geometry, o.size, 1, o.geometry.pixel_size_mm.value_or(1.0), note);
  if (!note.empty()) progress.note("note: " + note);
  s.grid = fitting_grid(s.scan);
  s.grid.size[0] = s.grid.size[1] = o.size;
  const Detector& detector = detector_of(s.scan);
  const double row_bytes = bytes_of_row(s);
  const pipeline::SimulatedScan simulated(s);
  const std::optional<double> pitch = is_in_mm(o.geometry) ? std::optional(detector.bin_pitch) : std::nullopt;
  io::ScanWriter writer({o.output, io::Content::scan, o.common.replace()}, s.scan, pitch, simulated.type(),
                        s.flats, s.darks);
  write_frames(simulated, rows_at_once(row_bytes, detector.rows), writer, progress);
  if (!o.truth.empty()) write_truth(o, simulated, progress);
  const nlohmann::json report = report_of_scan(o);
  writer.finish(text_of(report));
  progress.clear();
  write_report(o.common, report);
  if (o.common.tells())
    std::cout << "written   " << o.output << ": " << words_of_size(s.scan) << ", "
              << io::name_of(simulated.type()) << '\n';
}

void add_noise(Table& c, pipeline::Simulation& s) {
  c.heading("Noise");  // ranges are as in pipeline::validate
  c.add("--photons", On::result, s.photons,
        "photons per cell without the object, 1 to 4e9 (default: no noise)")
      .check(within(1, 4e9));
  c.add("--flats", On::result, s.flats, "flat frames (default 10)").check(count(1, 100'000));
  c.add("--darks", On::result, s.darks, "dark frames (default 10)").check(count(1, 100'000));
  c.add("--rings", On::result, s.rings_percent,
        "standard deviation of the sensitivity of cells, in %; the flats do not see it")
      .in("%")
      .check(within(0, 50));
  c.add("--seed", On::result, s.seed, "seed of noise, rings, jitter and foam (default 0)");
}

void add_simulate(Table& c) {
  auto o = std::make_shared<SimulateOptions>();
  pipeline::Simulation& s = o->simulation;
  c.heading("Files");
  c.add("-o,--output", On::files, o->output, "DXchange file to write").required();
  c.add("--truth", On::files, o->truth,
        "also write the exact volume as pixel averages, on the grid of --size, or of recon where that "
        "is larger");
  c.heading("Object");
  const std::vector<std::string> names(phantom_names().begin(), phantom_names().end());
  add_step_option(c, pipeline::option::spectrum, o->beam);
  add_choice(c, "--phantom", On::result, s.phantom, names, "default shepp-logan");
  c.add("--size", On::result, o->size, "voxels along x and y (default 256)").in("voxels").check(count());
  c.add("--max-attenuation", On::result, s.max_attenuation, "largest line integral (default 3)")
      .check(positive());
  add_geometry(c, o->geometry);
  add_noise(c, s);
  add_common(c, o->common);
  c.common({"output", "truth", "phantom", "size", "geometry", "sod", "sdd", "pixel-size", "rows", "views",
            "photons", "rings"});
  c.footer =
      "Examples:\n"
      "  tandem simulate -o scan.h5 --views 360 --photons 1e4 --truth truth.h5\n"
      "  tandem simulate -o cone.h5 --geometry cone --sod 400 --sdd 600 --pixel-size 0.3 --rows 128 "
      "--phantom ellipsoids\n"
      "  tandem simulate -o helix.h5 --trajectory helix --pitch 20 --geometry cone --sod 400 --sdd 600 "
      "--pixel-size 0.3 --rows 64 --phantom ellipsoids";
  c.at_end([o] {
    if (const std::string fault = pipeline::fault_of_tube(o->beam); !fault.empty()) throw UsageError(fault);
    require_scan_name({"-o", o->output});
    if (!o->truth.empty()) require_volume_name({"--truth", o->truth});
  });
  c.work = [o] {
    check_files(o->common,
                {{"--angles", o->geometry.list.angles},
                 {.option = "--geometry", .path = o->geometry.views_file.path, .alone = true}},
                {{"-o", o->output, io::Content::scan}, {"--truth", o->truth}});
    run_simulate(*o);
  };
}

}  // namespace

extern const Command simulate_command{"simulate", "Make a scan with known truth", add_simulate};

}  // namespace tandem::apps
