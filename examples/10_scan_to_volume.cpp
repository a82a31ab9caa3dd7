// From a scan in a file to a volume in a file, as `tandem recon` makes it. Nobody says where the axis lies: a
// recipe that asks for it is completed from the scan.
//
// Expected output:
//   rotation axis at bin 66.701 +- 0.020 (opposite)
//   error: 0.159 of the sample
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numbers>

#include "../io/scans/scan_writer.hpp"
#include "../pipeline/complete/complete.hpp"
#include "../pipeline/reconstruct.hpp"
#include "../pipeline/simulate.hpp"

using namespace tandem;

namespace {

constexpr Range rows{0, 4};
constexpr double axis_bin = 66.7;

/// Simulates a scan of a whole turn, and writes it to a file.
pipeline::SimulatedScan write_scan(const std::filesystem::path& path) {
  ParallelBeam beam{{.bins = 128, .rows = rows.last, .axis_bin = axis_bin}, {}, {}};
  for (int view = 0; view < 240; ++view) beam.angles.push_back(view * std::numbers::pi / 120);
  const Index references = 10;  // flats, and darks
  pipeline::SimulatedScan scan({.phantom = "foam", .scan = beam, .grid = fitting_grid(beam), .photons = {}});
  io::ScanWriter writer({path, io::Content::scan}, beam, {}, scan.type(), references, references);
  for (const auto kind : {io::FrameKind::projection, io::FrameKind::flat, io::FrameKind::dark})
    writer.write(kind, rows, scan.frames(kind, rows));
  writer.finish("{}");
  return scan;
}

}  // namespace

int main() {
  const std::filesystem::path file = "scan_of_example.h5", volume = "volume_of_example.h5";
  const pipeline::SimulatedScan simulated = write_scan(file);

  const auto scan = io::open_scan(file);
  pipeline::Recipe recipe{.method = "fbp", .find_axis = true, .fbp_filter = {.window = Window::hann}};
  complete(recipe, *scan, {.note = [](const std::string& text) { std::puts(text.c_str()); }});
  const pipeline::Plan plan = make_plan(scan->info(), recipe);
  const auto writer = io::create_volume(volume, plan.job.grid.shape(), {.place = plan.job.place()}, "{}");
  reconstruct(*scan, plan, *writer);
  writer->finish("{}");

  Array x(volume_space(plan.job.grid)), truth(x.space());
  io::VolumeReader(volume).read(rows, x.data());
  simulated.truth(plan.job.grid, rows, {truth.data(), static_cast<std::size_t>(truth.size())});
  double off = 0, all = 0;
  for (Index i = 0; i < x.size(); ++i)
    off += std::pow(x.data()[i] - truth.data()[i], 2), all += std::pow(truth.data()[i], 2);
  std::printf("error: %.3f of the sample\n", std::sqrt(off / all));
  for (const auto& path : {file, volume}) std::filesystem::remove(path);
  return std::abs(*recipe.axis_bin - axis_bin) < 0.1 && off < 0.04 * all ? 0 : 1;
}
