#include "tandem/pipeline/recipe.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"

namespace tandem::pipeline {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::string in_gib(double bytes) {
  std::ostringstream text;
  text.precision(3);
  text << bytes / gib << " GiB";
  return text.str();
}

/// Host memory of a chunk of `rows` slices, bytes. Three chunks travel at once: at the worst three hold their
/// counts, or two of them their volumes beside the one at work. To these come the vectors of the algorithm,
/// and the kernels' own copies of up to 64 slices.
double chunk_bytes(const Plan& plan, const io::ScanInfo& info, Index rows) {
  const double factor = static_cast<double>(Index{1} << plan.recipe.binning);
  const double views = static_cast<double>(plan.scan.angles.size()), r = static_cast<double>(rows);
  const double bins = static_cast<double>(plan.scan.detector.bins);
  const double cells = r * factor * static_cast<double>(plan.bins.size());  // of a frame, as read
  const double counts = views * cells * static_cast<double>(io::bytes_of(info.type));
  const double frames = 4 * cells * static_cast<double>(std::max(info.flats, info.darks));
  const double projections = 4 * views * r * bins;
  const double volume =
      4 * r * static_cast<double>(plan.grid.size[0]) * static_cast<double>(plan.grid.size[1]);
  const double lanes = static_cast<double>(std::min<Index>(64, 2 * rows)), threads = thread_count();
  const double inside = 4 * (bins + 16) * lanes * (views + 64 * threads) + 4 * 512 * lanes * threads;
  const bool fbp = plan.recipe.algorithm == Algorithm::fbp;
  const double vectors = fbp ? 2 * projections + volume : 4 * projections + 4 * volume;
  return 3 * counts + frames + vectors + 2 * volume + inside + static_cast<double>(info.decoded_bytes);
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

void choose_chunks(Plan& plan, const io::ScanInfo& info) {
  const double budget =
      static_cast<double>(plan.recipe.host_bytes > 0 ? plan.recipe.host_bytes : spare_host_memory());
  const double held =
      static_cast<double>(peak_memory()) + 32e6;  // the program itself; buffers of the file libraries
  const double least = held + chunk_bytes(plan, info, 1);
  require<DeviceError>(least <= budget, "memory: one slice needs ", in_gib(least), ", the limit is ",
                       in_gib(budget),
                       "; give a larger --memory, a smaller --size or --region, or --binning");
  const Index all = plan.grid.size[2];
  Index rows = 1;
  while (rows < all && held + chunk_bytes(plan, info, rows + 1) <= budget) ++rows;
  if (rows < all)  // full batches for the kernels
    rows =
        rows >= 64 ? rows - rows % 64 : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(rows)));
  // several chunks, so that reading, computing and writing overlap
  // (a compressed scan is decoded anew for every chunk: as few as the memory allows)
  const Index enough = info.decoded_bytes > 0 ? all : std::max<Index>(64, (all / 8 + 63) / 64 * 64);
  plan.rows_at_once = std::min({rows, enough, all});
  plan.bytes = static_cast<std::size_t>(held + chunk_bytes(plan, info, plan.rows_at_once));
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
  choose_chunks(plan, info);
  add_warnings(plan, recipe.axis_bin || info.axis_bin);
  return plan;
}

}  // namespace tandem::pipeline
