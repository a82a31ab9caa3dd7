#include "recipe.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <numbers>
#include <sstream>

#include "../core/error.hpp"
#include "../geometry/coverage.hpp"
#include "../geometry/views.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "memory.hpp"
#include "methods/method.hpp"
#include "problem.hpp"
#include "warn.hpp"

namespace tandem::pipeline {

namespace {

constexpr double gib = 1024.0 * 1024.0 * 1024.0;

std::string in_gib(double bytes) {
  std::ostringstream text;
  text.precision(3);
  text << bytes / gib << " GiB";
  return text.str();
}

Range whole_or(const std::optional<Range>& asked, Index count) { return asked.value_or(Range{0, count}); }

/// Slices around the middle, of which a region is a part. A parallel beam has one a row at most.
Range slices_of(const Plan& plan, VolumeGrid& grid) {
  const std::optional<Index>& asked = plan.recipe.slices;
  const Range part = whole_or(plan.recipe.region_z, asked.value_or(grid.size[2]));
  if (!asked) return part;
  require<GeometryError>(*asked > 0 && (plan.cone() || *asked <= grid.size[2]), "--slices ", *asked,
                         ": the scan has ", grid.size[2], " rows, one a slice; give 1 to ", grid.size[2]);
  if (plan.cone()) grid.size[2] = *asked;
  require<GeometryError>(0 <= part.first && part.last <= *asked, "--region ", part.first, ":", part.last,
                         " along z reaches outside the ", *asked, " slices of --slices");
  const Index below = (grid.size[2] - *asked) / 2;
  return {below + part.first, below + part.last};
}

/// Only the rows that meet the grid are read: of a parallel beam those of its slices, of a cone beam those on
/// which a voxel falls in any view, and none where no ray meets any.
void choose_rows(Plan& plan, Range slices) {
  const Index factor = plan.rows_together;
  const Index views = static_cast<Index>(angles_of(plan.scan).size());
  const Range rows = plan.cone() ? rows_met(*plan.cone(), plan.grid, {0, plan.grid.size[2]}) : slices;
  if (rows.size() > 0) plan.scan = crop(plan.scan, {0, views}, rows, {0, detector_of(plan.scan).bins});
  plan.rows = {plan.rows.first + rows.first * factor,
               plan.rows.first + std::max(rows.first, rows.last) * factor};
}

void choose_grid(Plan& plan) {
  const Recipe& recipe = plan.recipe;
  VolumeGrid grid = fitting_grid(plan.scan);
  if (recipe.size) grid.size[0] = grid.size[1] = *recipe.size;
  if (recipe.voxel_size_mm) {
    require<GeometryError>(plan.pitch_known, "--voxel-size ", *recipe.voxel_size_mm,
                           " mm: the scan has no pixel size; give --pixel-size MM too");
    grid.pitch[0] = grid.pitch[1] = *recipe.voxel_size_mm;
    if (plan.cone()) grid.pitch[2] = *recipe.voxel_size_mm;
  }
  validate(grid);
  const Range z = slices_of(plan, grid), x = whole_or(recipe.region_x, grid.size[0]),
              y = whole_or(recipe.region_y, grid.size[1]);
  plan.grid = region(grid, x, y, z);
  plan.full_size = grid.size;
  plan.first = {x.first, y.first, z.first};
  if (plan.cone()) pack(*plan.cone(), plan.grid);  // the source must not pass through it
  choose_rows(plan, z);
}

/// A slice of a parallel beam is as far above z = 0 as its row is above the middle of the whole detector.
void lift_slices(Plan& plan, const Detector& whole) {
  const double rows = 0.5 * static_cast<double>(plan.rows.first + plan.rows.last - whole.rows);
  const double unit = plan.pitch_known ? 1 : static_cast<double>(Index{1} << plan.recipe.binning);
  plan.grid.centre[2] = rows * whole.row_pitch / unit;
}

/// The most slices, `fewest` or more, that `bytes_of` of them says are within the budget. @throws DeviceError
/// if there are none
template <class Bytes>
Index most_slices(Index fewest, Index all, double budget, const Bytes& bytes_of, const std::string& where,
                  const std::string& remedy) {
  Index slices = fewest;
  require<DeviceError>(bytes_of(slices) <= budget, where, ": ", slices == 1 ? "one slice" : "the volume",
                       slices == 1 ? " needs " : " at once needs ", in_gib(bytes_of(slices)),
                       ", the limit is ", in_gib(budget), "; give ", remedy);
  Index too_many = all + 1;  // bytes grow with the slices: halve what is between
  while (too_many - slices > 1) {
    const Index middle = slices + (too_many - slices) / 2;
    (bytes_of(middle) <= budget ? slices : too_many) = middle;
  }
  return slices;
}

/// Slabs of a cone beam share their rows: FDK makes them one after the other, but most methods need all at
/// once; and one slice alone of several for one row would be a fan's.
Index fewest_slices(const Plan& plan) {
  const bool at_once = plan.method->takes_whole || detector_of(plan.scan).rows == 1;
  return plan.cone() && at_once ? plan.grid.size[2] : 1;
}

/// Bytes that every one of the devices can give.
double device_budget(const Plan& plan) {
  const auto& asked = plan.recipe.device_bytes;
  double least = asked ? static_cast<double>(*asked) : INFINITY;
  for (const Device device : plan.devices)
    least = std::min(least, device.is_cuda() ? 0.9 * static_cast<double>(free_memory(device))
                                             : static_cast<double>(spare_host_memory()));
  return least;
}

/// Those with at least half of the free memory that one of them has: all get the same share of the work.
std::vector<Device> roomy(std::vector<Device> devices) {
  std::size_t most = 0;
  for (const Device device : devices) most = std::max(most, free_memory(device));
  std::erase_if(devices, [&](Device device) { return 2 * free_memory(device) < most; });
  return devices;
}

/// A cone beam is cut into tiles for several devices, or where one GPU does not hold what it needs at once.
void choose_tiles(Plan& plan) {
  if (!plan.cone()) return;
  const bool too_large =
      plan.home().is_cuda() && device_bytes(plan, fewest_slices(plan)) > device_budget(plan);
  plan.tiled = too_large || plan.devices.size() > 1;
  if (!plan.tiled) return;
  plan.devices = plan.recipe.fewest_devices ? roomy(plan.recipe.devices) : plan.recipe.devices;
  plan.device_bytes = static_cast<std::size_t>(device_budget(plan));
  require_tiles(plan);
}

Index most_slices_of_device(const Plan& plan) {
  return most_slices(
      fewest_slices(plan), plan.grid.size[2], device_budget(plan),
      [&](Index some) { return device_bytes(plan, some); }, "memory of " + plan.home().name(),
      "a larger --device-memory, a smaller --size or --region, --binning, --variant alu --precision float32, "
      "or "
      "--device cpu");
}

void choose_chunks(Plan& plan, const io::ScanInfo& info) {
  const bool on_gpu = plan.home().is_cuda();
  const Index all = plan.grid.size[2], batch = on_gpu ? 128 : 64;  // slices that kernels take at once
  Index rows = on_gpu ? most_slices_of_device(plan) : all;
  const auto now = static_cast<double>(held_memory());
  const double held = now + 32e6;  // the program itself; buffers of the file libraries
  const double budget = plan.recipe.host_bytes ? static_cast<double>(*plan.recipe.host_bytes)
                                               : now + static_cast<double>(spare_host_memory());
  rows = most_slices(
      fewest_slices(plan), rows, budget, [&](Index some) { return held + host_bytes(plan, info, some); },
      "memory", "a larger --memory, a smaller --size or --region, or --binning");
  if (rows < all)  // full batches for the kernels
    rows = rows >= batch ? rows - rows % batch
                         : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(rows)));
  // several chunks, so that reading, computing and writing overlap
  // (a compressed scan is decoded anew for every chunk, tiles take all data up again: as few as the memory
  // allows)
  const Index eighth = (all / 8 + batch - 1) / batch * batch;
  const Index enough = info.decoded_bytes > 0 || plan.tiled ? all : std::max(batch, eighth);
  plan.rows_at_once = std::max(std::min({rows, enough, all}), fewest_slices(plan));
  plan.bytes = static_cast<std::size_t>(held + host_bytes(plan, info, plan.rows_at_once));
  if (on_gpu) plan.device_bytes = static_cast<std::size_t>(device_bytes(plan, plan.rows_at_once));
}

/// What would do in place of a pair that does not match.
std::string matched_for(const ParallelBeam& scan, const VolumeGrid& grid, Device device) {
  std::string list;
  for (const Execution e : executions(device)) try {
      if (is_matched(resolved(e, scan, grid, Model::pixel_driven, device), device))
        list += (list.empty() ? "--variant " : ", or --variant ") + std::string(name_of(e.variant)) +
                " --precision " + std::string(name_of(e.precision));
    } catch (const GeometryError&) {  // not for these pixels
    }
  return list;
}

Pairing pairing_of(const Plan& plan) {
  const bool any = plan.recipe.allow_unmatched || !plan.method->needs_matched_pair;
  return any ? Pairing::any : Pairing::matched;
}

/// For all slices at once: what a chunk of them takes is the same, so that bits do not depend on the memory.
void choose_execution(Plan& plan) {
  const Recipe& recipe = plan.recipe;
  if (const ConeBeam* cone = plan.cone()) {
    constexpr Execution only{Variant::standard, Precision::float32};
    plan.execution = recipe.execution;
    if (plan.execution.variant == Variant::automatic) plan.execution.variant = only.variant;
    require<DeviceError>(plan.execution == only, "cone beam: no ", name_of(plan.execution),
                         "; give --variant automatic --precision float32");
    for (const Device device : recipe.devices) {  // whether they have kernels
      projector(*cone, plan.grid, Model::separable_footprint, device);
      plan.matched = plan.matched && is_matched(Model::separable_footprint, device);
    }
    return;
  }
  require<DeviceError>(plan.devices.size() == 1,
                       "parallel beam: several devices do not share one yet; give "
                       "--device cpu, cuda or cuda:N");
  const auto& scan = std::get<ParallelBeam>(plan.scan);
  const Pairing pairing = pairing_of(plan);
  plan.execution = resolved(recipe.execution, scan, plan.grid, Model::pixel_driven, plan.home(), pairing);
  plan.matched = is_matched(plan.execution, plan.home());
  if (plan.matched || !plan.method->needs_matched_pair) return;
  const std::string what =
      name_of(plan.execution) + ": the back-projection is not the transpose of the projection";
  require<GeometryError>(pairing == Pairing::any, what, ", which a solver needs; give ",
                         matched_for(scan, plan.grid, plan.home()), ", or --allow-unmatched");
  warn(plan.warnings, what, "; a solver may stop short of the solution, or run away from it");
}

/// Few slices at once are fast in other ways than all, which are not taken for them.
void warn_of_chunks(Plan& plan) {
  if (plan.cone() || plan.rows_at_once == plan.grid.size[2]) return;
  const Scan few = scan_of(plan, {0, plan.rows_at_once});
  const VolumeGrid& g = plan.grid;
  const Execution best = resolved(plan.recipe.execution, std::get<ParallelBeam>(few),
                                  region(g, {0, g.size[0]}, {0, g.size[1]}, {0, plan.rows_at_once}),
                                  Model::pixel_driven, plan.home(), pairing_of(plan));
  if (best != plan.execution)
    warn(plan.warnings, "memory holds ", plan.rows_at_once, " slices at once, too few for ",
         name_of(plan.execution),
         " to be fast, which is taken for all; more memory would be faster, or --variant ",
         name_of(best.variant));
}

constexpr double degrees = 180 / std::numbers::pi;

void add_warnings(Plan& plan, const ParallelBeam& scan) {
  const double gap = widest_gap(scan.angles) * degrees;
  const double usual = 180.0 / static_cast<double>(scan.angles.size());
  if (gap > 5 * usual && gap > 5)
    warn(plan.warnings, "the views leave ", gap,
         " degrees of the half turn open; expect limited-angle artefacts");
}

void add_warnings(Plan& plan, const ConeBeam& scan) {
  if (const double missing = missing_arc(scan) * degrees; missing > 0.01)
    warn(plan.warnings, "the views leave ", missing,
         " degrees of a short scan (half a turn and the fan) open; expect limited-angle artefacts");
  const Index all = plan.grid.size[2];
  const Range met = plan.rows.size() > 0 ? slices_met(scan, plan.grid, {0, scan.detector.rows}) : Range{0, 0};
  if (met.size() == 0)
    warn(plan.warnings, "no ray meets the volume; all of it is zero");
  else if (met.size() < all)
    warn(plan.warnings, "no ray meets slices 0:", met.first, " and ", met.last, ":", all, "; they are zero");
}

/// The ray that comes nearest to the axis passes it within the farthest corner of the grid, and where there
/// is one beside it, something in the middle is not seen.
void require_seen(Plan& plan) {
  const Detector& d = detector_of(plan.scan);
  const double beside = std::max(-0.5 - d.axis_bin, d.axis_bin - (static_cast<double>(d.bins) - 0.5));
  if (!(beside > 0)) return;
  double nearest = beside * d.bin_pitch, farthest = 0;
  if (const auto* cone = plan.cone()) nearest = cone->sod * std::sin(std::atan(nearest / cone->sdd));
  const VolumeGrid& g = plan.grid;
  const auto reach = [&](std::size_t k) {
    return std::abs(g.centre[k]) + 0.5 * static_cast<double>(g.size[k]) * g.pitch[k];
  };
  farthest = std::hypot(reach(0), reach(1));
  require<GeometryError>(nearest < farthest, "rotation axis: bin ", plan.axis_in_file,
                         " is so far beside the columns ", plan.bins.first, ":", plan.bins.last,
                         " that no ray meets the volume; give the axis in bins from 0");
  warn(plan.warnings, "the rotation axis, bin ", plan.axis_in_file, ", is beside the columns ",
       plan.bins.first, ":", plan.bins.last, ": what is nearer to the axis than their rays is not seen");
}

void add_warnings(Plan& plan, bool axis_known) {
  if (!axis_known)
    warn(plan.warnings, "the scan records no rotation axis; the middle, bin ", plan.axis_in_file,
         ", is taken (give --rotation-axis X or --rotation-axis-auto)");
  std::visit([&](const auto& scan) { add_warnings(plan, scan); }, plan.scan);
}

/// Of this process, from its own start on: what getrusage has goes on from the program before.
std::size_t status_bytes(const std::string& wanted) {
  std::ifstream file("/proc/self/status");
  std::string key;
  for (double kib; file >> key;) {
    if (key == wanted && file >> kib) return static_cast<std::size_t>(1024 * kib);
    file.ignore(1000, '\n');
  }
  return 0;
}

}  // namespace

std::string_view Plan::method_name() const {
  return cone() && !method->name_for_cones.empty() ? method->name_for_cones : method->name;
}

bool Plan::filters() const { return method->filters || recipe.initial == Initial::fbp; }

io::VolumePlace Plan::place() const {
  io::VolumePlace place{grid, pitch_known, full_size, first};
  if (!pitch_known)
    for (std::size_t i = 0; i < 3; ++i) {
      place.grid.pitch[i] = std::ldexp(grid.pitch[i], recipe.binning);
      place.grid.centre[i] = std::ldexp(grid.centre[i], recipe.binning);
    }
  return place;
}

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

std::size_t held_memory() { return status_bytes("VmRSS:"); }
std::size_t peak_memory() { return status_bytes("VmHWM:"); }

Plan make_plan(const io::ScanInfo& info, const Recipe& recipe) {
  Plan plan;
  require<DeviceError>(!recipe.devices.empty(), "recipe: no device is given");
  plan.recipe = recipe;
  plan.method = &method_named(recipe.method);
  plan.devices = recipe.devices;
  if (recipe.fewest_devices) plan.devices.resize(1, Device::cpu());
  Scan scan = info.scan;
  Detector& whole = detector_of(scan);
  plan.pitch_known = info.pixel_size_mm.has_value();
  plan.axis_in_file =
      recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * static_cast<double>(whole.bins - 1)));
  whole.axis_bin = plan.axis_in_file;
  // one axis for all rows is what the user asked for
  if (auto* parallel = std::get_if<ParallelBeam>(&scan); parallel && recipe.axis_bin)
    parallel->row_axis_bins.clear();
  validate(scan);
  plan.views = whole_or(recipe.views, static_cast<Index>(angles_of(scan).size()));
  plan.rows = whole_or(recipe.rows, whole.rows);
  plan.bins = whole_or(recipe.bins, whole.bins);
  plan.rows_together = rows_together(plan.rows.size(), recipe.binning);
  plan.scan = crop(scan, plan.views, plan.rows, plan.bins);
  if (recipe.binning > 0) plan.scan = bin_down(plan.scan, recipe.binning, plan.pitch_known);
  if (const auto* parallel = std::get_if<ParallelBeam>(&plan.scan); parallel && plan.method->filters)
    require_fbp(*parallel);
  choose_grid(plan);
  if (!plan.cone()) lift_slices(plan, whole);
  choose_execution(plan);
  choose_tiles(plan);
  choose_chunks(plan, info);
  warn_of_chunks(plan);
  require_seen(plan);
  add_warnings(plan, recipe.axis_bin || info.axis_bin);
  return plan;
}

}  // namespace tandem::pipeline
