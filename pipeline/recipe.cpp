#include "tandem/pipeline/recipe.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tandem/core/error.hpp"
#include "tandem/operators/projector.hpp"

namespace tandem::pipeline {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::string in_gib(double bytes) {
  std::ostringstream text;
  text.precision(3);
  text << bytes / gib << " GiB";
  return text.str();
}

/// Line integrals and volume of a chunk of `rows` slices, bytes.
struct Sizes {
  double projections, volume;
};

Sizes sizes_of(const Plan& plan, Index rows) {
  const auto views = static_cast<Index>(plan.scan.angles.size());
  return {4.0 * static_cast<double>(views * rows * plan.scan.detector.bins),
          4.0 * static_cast<double>(rows * plan.grid.size[0] * plan.grid.size[1])};
}

/// What the algorithm holds where it computes: its vectors and the kernels' own. Line integrals are gone
/// when filtered back-projection makes its volume.
double computing_bytes(const Plan& plan, Index rows) {
  const auto [projections, volume] = sizes_of(plan, rows);
  const WorkingMemory kernels = working_memory(
      plan.execution, {rows, plan.grid.size[1], plan.grid.size[0]},
      {static_cast<Index>(plan.scan.angles.size()), rows, plan.scan.detector.bins}, plan.recipe.device);
  if (plan.recipe.algorithm == Algorithm::fbp)
    return projections + std::max(projections, volume + kernels.backward);
  const double sets = plan.recipe.algorithm == Algorithm::sirt ? 4 : 3;
  return sets * projections + 3 * volume + std::max(kernels.forward, kernels.backward);
}

/// Host memory for chunks of `rows` slices, bytes. Three travel at once: the one being read holds counts and
/// line integrals, the one at work what it computes with, the third its line integrals or its volume.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index rows) {
  const double factor = static_cast<double>(Index{1} << plan.recipe.binning);
  const double cells =  // of a frame, as read
      static_cast<double>(rows) * factor * static_cast<double>(plan.bins.size());
  const double counts =
      static_cast<double>(plan.scan.angles.size()) * cells * static_cast<double>(io::bytes_of(info.type));
  const double frames = 4 * cells * static_cast<double>(std::max(info.flats, info.darks));
  const auto [projections, volume] = sizes_of(plan, rows);
  const double work = plan.recipe.device.is_cuda()              ? std::max(projections, volume)
                      : plan.recipe.algorithm == Algorithm::fbp ? computing_bytes(plan, rows)
                                                                : computing_bytes(plan, rows) + volume;
  return counts + frames + work + 2 * std::max(projections, volume) + static_cast<double>(info.decoded_bytes);
}

/// Memory of a GPU for a chunk of `rows` slices, bytes: also what the filter takes for its batches.
double device_bytes(const Plan& plan, Index rows) {
  constexpr double filter = 128.0 * 1024 * 1024;
  const double a_row = 24 * static_cast<double>(plan.scan.detector.bins);  // its response, if it is moved
  return computing_bytes(plan, rows) + filter + a_row * static_cast<double>(rows);
}

Range whole_or(const std::optional<Range>& asked, Index count) { return asked.value_or(Range{0, count}); }

void choose_grid(Plan& plan) {
  const Recipe& recipe = plan.recipe;
  VolumeGrid grid = fitting_grid(plan.scan);
  if (recipe.size) grid.size[0] = grid.size[1] = *recipe.size;
  if (recipe.voxel_size_mm) {
    require<GeometryError>(plan.pitch_known, "--voxel-size ", *recipe.voxel_size_mm,
                           " mm: the scan has no pixel size; give --pixel-size MM too");
    grid.pitch[0] = grid.pitch[1] = *recipe.voxel_size_mm;
  }
  validate(grid);
  Range z = whole_or(recipe.region_z, grid.size[2]);
  if (recipe.slices) {
    require<GeometryError>(*recipe.slices > 0 && *recipe.slices <= grid.size[2], "--slices ", *recipe.slices,
                           ": the scan has ", grid.size[2], " rows, one a slice; give 1 to ", grid.size[2]);
    const Index below = (grid.size[2] - *recipe.slices) / 2;
    z = {below, below + *recipe.slices};
  }
  plan.grid =
      region(grid, whole_or(recipe.region_x, grid.size[0]), whole_or(recipe.region_y, grid.size[1]), z);
  // only the rows that meet the region are read
  const Index factor = Index{1} << recipe.binning;
  plan.scan =
      crop(plan.scan, {0, static_cast<Index>(plan.scan.angles.size())}, z, {0, plan.scan.detector.bins});
  plan.rows = {plan.rows.first + z.first * factor, plan.rows.first + z.last * factor};
}

/// The most slices that `bytes_of` of them says are within the budget. @throws DeviceError if there is none
template <class Bytes>
Index most_rows(Index all, double budget, const Bytes& bytes_of, const std::string& where,
                const std::string& remedy) {
  require<DeviceError>(bytes_of(1) <= budget, where, ": one slice needs ", in_gib(bytes_of(1)),
                       ", the limit is ", in_gib(budget), "; give ", remedy);
  Index rows = 1;
  while (rows < all && bytes_of(rows + 1) <= budget) ++rows;
  return rows;
}

Index most_rows_of_device(Plan& plan) {
  const Device device = plan.recipe.device;
  const double spare = 0.9 * static_cast<double>(free_memory(device));
  const auto asked = static_cast<double>(plan.recipe.device_bytes);
  const double budget = asked > 0 ? std::min(asked, spare) : spare;
  return most_rows(
      plan.grid.size[2], budget, [&](Index rows) { return device_bytes(plan, rows); },
      "memory of " + device.name(),
      "a larger --device-memory, a smaller --size or --region, --binning, --variant alu, or --device cpu");
}

void choose_chunks(Plan& plan, const io::ScanInfo& info) {
  const bool on_gpu = plan.recipe.device.is_cuda();
  const Index all = plan.grid.size[2], batch = on_gpu ? 128 : 64;  // slices that kernels take at once
  Index rows = on_gpu ? most_rows_of_device(plan) : all;
  const double budget =
      static_cast<double>(plan.recipe.host_bytes > 0 ? plan.recipe.host_bytes : spare_host_memory());
  const double held =
      static_cast<double>(peak_memory()) + 32e6;  // the program itself; buffers of the file libraries
  rows = most_rows(
      rows, budget, [&](Index some) { return held + host_bytes(plan, info, some); }, "memory",
      "a larger --memory, a smaller --size or --region, or --binning");
  if (rows < all)  // full batches for the kernels
    rows = rows >= batch ? rows - rows % batch
                         : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(rows)));
  // several chunks, so that reading, computing and writing overlap
  // (a compressed scan is decoded anew for every chunk: as few as the memory allows)
  const Index eighth = (all / 8 + batch - 1) / batch * batch;
  const Index enough = info.decoded_bytes > 0 ? all : std::max(batch, eighth);
  plan.rows_at_once = std::min({rows, enough, all});
  plan.bytes = static_cast<std::size_t>(held + host_bytes(plan, info, plan.rows_at_once));
  if (on_gpu) plan.device_bytes = static_cast<std::size_t>(device_bytes(plan, plan.rows_at_once));
}

/// As for so many slices at once.
void choose_execution(Plan& plan, Index slices) {
  const VolumeGrid& g = plan.grid;
  const Index views = static_cast<Index>(plan.scan.angles.size());
  plan.execution = resolved(
      plan.recipe.execution, crop(plan.scan, {0, views}, {0, slices}, {0, plan.scan.detector.bins}),
      region(g, {0, g.size[0]}, {0, g.size[1]}, {0, slices}), Model::pixel_driven, plan.recipe.device);
}

void add_warnings(Plan& plan, bool axis_known) {
  const double degrees = 180 / std::numbers::pi;
  if (!axis_known) {
    std::ostringstream text;
    text << "the scan records no rotation axis; the middle, bin " << plan.axis_in_file
         << ", is taken (give --rotation-axis X or --rotation-axis-auto)";
    plan.warnings.push_back(text.str());
  }
  const double gap = widest_gap(plan.scan.angles) * degrees;
  const double usual = 180.0 / static_cast<double>(plan.scan.angles.size());
  if (gap > 5 * usual && gap > 5) {
    std::ostringstream text;
    text << "the views leave " << gap << " degrees of the half turn open; expect limited-angle artefacts";
    plan.warnings.push_back(text.str());
  }
}

}  // namespace

std::size_t spare_host_memory() {
  double spare = std::size_t{1} << 31;  // where nothing can be asked
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (double kib; file >> key;) {
    if (key == "MemAvailable:" && file >> kib) spare = 1024 * kib;
    file.ignore(1000, '\n');
  }
  // a container may be allowed less (cgroup v2)
  double limit = 0, used = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit &&
      std::ifstream("/sys/fs/cgroup/memory.current") >> used)
    spare = std::min(spare, limit - used);
  return static_cast<std::size_t>(0.7 * std::max(0.0, spare));
}

std::size_t peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

Plan make_plan(const io::ScanInfo& info, const Recipe& recipe) {
  Plan plan;
  plan.recipe = recipe;
  ParallelBeam scan = info.scan;
  if (recipe.pixel_size_mm) scan.detector.bin_pitch = scan.detector.row_pitch = *recipe.pixel_size_mm;
  plan.pitch_known = recipe.pixel_size_mm || info.pixel_size_mm;
  plan.axis_in_file =
      recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * static_cast<double>(scan.detector.bins - 1)));
  scan.detector.axis_bin = plan.axis_in_file;
  if (recipe.axis_bin) scan.row_axis_bins.clear();  // one axis for all rows is what the user asked for
  validate(scan);
  plan.views = whole_or(recipe.views, static_cast<Index>(scan.angles.size()));
  plan.rows = whole_or(recipe.rows, scan.detector.rows);
  plan.bins = whole_or(recipe.bins, scan.detector.bins);
  plan.scan = crop(scan, plan.views, plan.rows, plan.bins);
  if (recipe.binning > 0) plan.scan = bin_down(plan.scan, recipe.binning, plan.pitch_known);
  choose_grid(plan);
  choose_execution(plan, plan.grid.size[2]);
  choose_chunks(plan, info);
  if (const Execution of_all = plan.execution; plan.rows_at_once < plan.grid.size[2]) {
    choose_execution(plan, plan.rows_at_once);  // little memory may leave too few slices for the best of many
    if (plan.execution != of_all) choose_chunks(plan, info);
  }
  add_warnings(plan, recipe.axis_bin || info.axis_bin);
  return plan;
}

}  // namespace tandem::pipeline
