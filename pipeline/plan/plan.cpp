#include "plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <sstream>

#include "../../core/ceil_div.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../beams/beam.hpp"
#include "../methods/method.hpp"
#include "../methods/solver_options.hpp"
#include "../warn.hpp"
#include "batches.hpp"
#include "chunks_due.hpp"
#include "grids.hpp"
#include "helper.hpp"
#include "host_memory.hpp"
#include "memory.hpp"
#include "placement.hpp"
#include "problem.hpp"
#include "recorded_pose.hpp"
#include "row_axes.hpp"

namespace tandem::pipeline {

namespace {

std::string in_gib(double bytes) {
  std::ostringstream text;
  text.precision(3);
  text << bytes / bytes_per_gib << " GiB";
  return text.str();
}

Range whole_or(const std::optional<Range>& asked, Index count) { return asked.value_or(Range{0, count}); }

/// All rows of the file that fit together with the selected ones, as many as become one.
Range rows_beside(const Plan& plan, Index all) {
  const Index factor = plan.rows_together, last = plan.rows.last - plan.rows.size() % factor;
  return {plan.rows.first % factor, last + (all - last) / factor * factor};
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

/// What makes vectors smaller. A solver has all that the rays see, however small the part that is asked for.
std::string less_of(const Plan& plan) {
  return plan.method->iterates() ? "--binning, a larger --voxel-size, or fbp or fdk, which need no more than "
                                   "the part that is written"
                                 : "a smaller --size or --region, --binning";
}

Index most_slices_of_device(const Plan& plan, const Recipe& recipe) {
  const std::string less =
      plan.model == Model::fourier ? "--model pixel_driven" : "--variant alu --precision float32";
  return most_slices(
      fewest_slices(plan), plan.grid.size[2], device_budget(plan, recipe),
      [&](Index some) { return device_bytes(plan, some); }, "memory of " + plan.home().name(),
      "a larger --device-memory, " + less_of(plan) + ", " + less + ", or --device cpu");
}

/// A packed scan is unpacked anew for each part that is read: as few parts as the memory allows, of several
/// chunks, which may have to be smaller for that. Where views pass in blocks, it is all or nothing.
void choose_reads(Plan& plan, Index smallest_chunk, const std::function<bool()>& fits) {
  const Index all = plan.grid.size[2], wanted = plan.rows_at_once;
  if (!rows_are_slices(plan.scan) && !plan.by_views()) return;
  for (Index chunk = wanted; chunk == wanted || (chunk >= smallest_chunk && !plan.by_views()); chunk /= 2) {
    plan.rows_at_once = chunk;
    const Index fewest = plan.by_views() ? ceil_div(all, chunk) : 2;
    for (Index chunks = ceil_div(all, chunk); chunks >= fewest; --chunks) {
      plan.slices_a_read = std::min(all, chunks * chunk);
      if (fits()) return;
    }
  }
  plan.rows_at_once = wanted;
  plan.slices_a_read = 0;
}

/// Where slices are apart, several workers share a GPU: as many as the memory allows.
void share_gpus(Plan& plan, const Recipe& recipe) {
  if (!rows_are_slices(plan.scan) || !plan.home().is_cuda()) return;
  const std::vector<Worker> alone = plan.workers;
  for (int more = 1; more < recipe.streams; ++more) {
    plan.workers.insert(plan.workers.end(), alone.begin(), alone.end());
    if (device_bytes(plan, 1) <= device_budget(plan, recipe)) continue;
    plan.workers.resize(plan.workers.size() - alone.size());
    break;
  }
}

/// Where views pass in blocks, each slab lets them pass again, and makes the weights of its rays anew. So
/// there are as few as the memory allows, and as many for each worker; a single GPU has two, of which one is
/// written while the other is made.
Index slices_of_slab(const Plan& plan, Index most) {
  const auto workers = static_cast<Index>(plan.workers.size());
  const Index all = plan.grid.size[2], fewest = plan.home().is_cuda() ? 2 : 1;
  return ceil_div(all, ceil_div(std::max(fewest, ceil_div(all, most)), workers) * workers);
}

/// Few enough slices that there are several chunks for each worker, and so reading, computing and writing
/// overlap; enough for kernels to be fast, and for margins, which are read and prepared beside each chunk,
/// not to be most of the work.
Index slices_for_overlap(const Plan& plan, Index batch) {
  const Index all = plan.grid.size[2];
  if (plan.home().is_cuda() && plan.model == Model::fourier && plan.method->filters) {
    constexpr Index lanes = 16, most = 128, bytes = 256 << 20;  // pinning more takes longer than it saves
    const Index slice = 4 * plan.grid.size[0] * plan.grid.size[1];
    const Index enough = std::min(ceil_div(all, 8 * lanes), bytes / slice / lanes) * lanes;
    return std::max(std::clamp(enough, lanes, most), ceil_div(6 * plan.margin.beside, lanes) * lanes);
  }
  return std::max(batch, ceil_div(all / (8 * static_cast<Index>(plan.workers.size())), batch) * batch);
}

/// As many views as make a block large enough for kernels, and small enough for the first one to come soon.
/// Fewer where few slices find room beside them; else the scan alone decides, and with it the order of sums.
void choose_views(Plan& plan, const std::function<bool(Index slices)>& fits) {
  if (!plan.by_views()) return;
  constexpr Index most = 64, step = 8, few_slices = 16;
  const Index fewest = fewest_slices(plan), few = std::clamp(few_slices, fewest, plan.grid.size[2]);
  const Index bytes = plan.home().is_cuda() ? Index{1} << 30 : Index{1} << 27;
  const Detector& d = filtered_detector(plan.scan);
  const Index views = std::clamp<Index>(bytes / (4 * d.rows * d.bins), 1, most);
  plan.views_at_once = views > step ? views - views % step : views;
  while (plan.views_at_once > step && !fits(few)) plan.views_at_once /= 2;
  while (plan.views_at_once > 1 && !fits(fewest)) plan.views_at_once /= 2;
}

void choose_chunks(Plan& plan, const Recipe& recipe, const io::ScanInfo& info) {
  const bool on_gpu = plan.home().is_cuda();
  const std::optional<Worker> helper = without_helper(plan);
  share_gpus(plan, recipe);
  const double held = held_with_libraries(plan);
  const double budget = host_budget(recipe);
  choose_views(plan, [&](Index slices) {
    return held + host_bytes(plan, info, slices) <= budget &&
           (!on_gpu || device_bytes(plan, slices) <= device_budget(plan, recipe));
  });
  const Index all = plan.grid.size[2], batch = on_gpu ? 128 : 64;  // slices that kernels take at once
  Index rows = on_gpu ? most_slices_of_device(plan, recipe) : all;
  rows = most_slices(
      fewest_slices(plan), rows, budget, [&](Index some) { return held + host_bytes(plan, info, some); },
      "memory", "a larger --memory, or " + less_of(plan));
  if (rows < all)  // full batches for the kernels
    rows = rows >= batch ? rows - rows % batch
                         : static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(rows)));
  const Index enough = recipe.rows_at_once > 0 ? recipe.rows_at_once
                       : plan.by_views()       ? slices_of_slab(plan, rows)
                                               : slices_for_overlap(plan, batch);
  plan.rows_at_once = std::max(std::min({rows, enough, all}), fewest_slices(plan));
  if (const Index block = block_of_chunks(plan); block <= plan.rows_at_once && plan.rows_at_once < all)
    plan.rows_at_once -= plan.rows_at_once % block;
  const auto chunks = static_cast<std::size_t>(ceil_div(all, plan.rows_at_once));
  if (chunks < plan.devices.size() && !recipe.fewest_devices && rows_are_slices(plan.scan))
    warn(plan.warnings, "of ", plan.devices.size(), " devices, ", chunks,
         " compute: there are no more chunks");
  if (plan.workers.size() > chunks) plan.workers.resize(chunks, plan.workers.front());
  const auto bytes = [&] { return held + host_bytes(plan, info, plan.rows_at_once); };
  const auto fits = [&] { return bytes() <= budget; };
  if (info.decoded_bytes > 0) choose_reads(plan, batch, fits);
  if (helper) add_helper(plan, *helper, thread_count(), fits);
  plan.bytes_a_piece = bytes_a_piece(plan, info, plan.rows_at_once);
  plan.bytes = static_cast<std::size_t>(bytes());
  if (on_gpu) plan.device_bytes = static_cast<std::size_t>(device_bytes(plan, plan.rows_at_once));
}

/// The ray that comes nearest to the axis passes it within the farthest corner of the grid, and where there
/// is one beside it, something in the middle is not seen.
void require_seen(Plan& plan) {
  const Detector& d = detector_of(plan.scan);
  const double beside = std::max(-0.5 - d.axis_bin, d.axis_bin - (static_cast<double>(d.bins) - 0.5));
  if (!(beside > 0)) return;
  const double nearest = distance_from_axis(plan.scan, beside * d.bin_pitch);
  const VolumeGrid& g = plan.grid;
  const auto reach = [&](std::size_t k) {
    return std::abs(g.centre[k]) + 0.5 * static_cast<double>(g.size[k]) * g.pitch[k];
  };
  const double farthest = std::hypot(reach(0), reach(1));
  require<GeometryError>(nearest < farthest, "rotation axis: bin ", plan.axis_in_file,
                         " is so far beside the columns ", plan.bins.first, ":", plan.bins.last,
                         " that no ray meets the volume; give the axis in bins from 0");
  warn(plan.warnings, "the rotation axis, bin ", plan.axis_in_file, ", is beside the columns ",
       plan.bins.first, ":", plan.bins.last, ": what is nearer to the axis than their rays is not seen");
}

/// What is said to be a half acquisition has views all round, and an axis that is known and aside.
void require_half_acquisition(Plan& plan, bool axis_known) {
  require<GeometryError>(all_round(angles_of(plan.scan)), "half acquisition: the views leave ",
                         in_degrees(widest_gap(angles_of(plan.scan), whole_turn)),
                         " degrees of the turn open, at most 60 may be; give --arc 360 or --angles FILE, or "
                         "--file-type standard if the scan is none");
  require<GeometryError>(axis_known,
                         "half acquisition: the scan records no rotation axis, and its middle is not the "
                         "axis; give --rotation-axis X or --rotation-axis-auto");
  if (!half_acquisition(plan.scan))
    warn(plan.warnings, "the scan is said to be a half acquisition, but the rotation axis, bin ",
         plan.axis_in_file, ", is near the middle of the columns ", plan.bins.first, ":", plan.bins.last,
         "; check the axis, or give --file-type standard");
}

/// Columns that are left out are not read for steps.
void warn_of_columns(Plan& plan, Index all) {
  if (plan.bins.size() == all) return;
  for (const Step& step : plan.preprocessing.table())
    if (step.bins_beside && step.asked_for(plan.preprocessing))
      warn(plan.warnings, "columns ", plan.bins.first, ":", plan.bins.last, ": the step ", step.name,
           " looks at ", step.bins_beside(plan.preprocessing),
           " bins beside each bin, and takes the last selected ones for those beyond; give all columns, and "
           "--size or --region for a part of the volume");
}

void add_warnings(Plan& plan, const Recipe& recipe, bool axis_known) {
  if (!axis_known)
    warn(plan.warnings, "the scan records no rotation axis; the middle, bin ", plan.axis_in_file,
         ", is taken (give --rotation-axis X or --rotation-axis-auto)");
  beam_of(plan.scan).add_warnings(plan, recipe);
}

double angle_of(const Recipe& recipe, const char* option) {
  return in_radians(value_of<double>(recipe.steps, option).value_or(0));
}

/// A detector that is rolled, an axis that is tilted: the steps make frames of an upright detector, or those
/// in which each row has its own axis. Here the scan gets the geometry of these frames.
void set_upright(Scan& scan, const Recipe& recipe, const Plan& plan) {
  const double roll = angle_of(recipe, "--detector-roll"), tilt = angle_of(recipe, "--axis-tilt");
  if (roll == 0 && tilt == 0) return;
  const char* option = tilt != 0 ? "--axis-tilt" : "--detector-roll";
  const Beam& beam = beam_of(scan);
  require<GeometryError>(detector_of(scan).rows > 1, option,
                         ": the scan has one row, which says nothing of others");
  if (beam.set_upright) return beam.set_upright(scan, tilt);
  require<GeometryError>(tilt == 0,
                         "--axis-tilt goes with a cone beam; in a parallel beam, rays of a tilted axis cross "
                         "slices: align the axis before the scan, or leave the option out");
  require<GeometryError>(
      row_axes_of(scan).empty(),
      "--detector-roll: the scan records an axis for each row; give --rotation-axis X too");
  beam.roll(scan, roll, plan.bins);
}

/// What the step `upright` needs to know. The scan is selected and binned.
void choose_pose(Plan& plan, const Recipe& recipe) {
  const double roll = angle_of(recipe, "--detector-roll"), tilt = angle_of(recipe, "--axis-tilt");
  if ((roll == 0 && tilt == 0) || !beam_of(plan.scan).set_upright) return;
  plan.preprocessing.pose = DetectorPose{roll, tilt, point_source_of(plan.scan), plan.rows.first};
  plan.preprocessing.pose->upright.angles.clear();
}

void choose_padding(Plan& plan, const Recipe& recipe) {
  plan.options.filter.padding = recipe.padding.value_or(Padding::cosine);
  if (recipe.padding_bins)
    plan.options.filter.padding_bins = *recipe.padding_bins >> plan.preprocessing.binning;
}

/// What steps need to know of the scan, and whether it can have them.
void choose_steps(Plan& plan) {
  plan.preprocessing.optics = plan.pitch_known ? beam_of(plan.scan).optics(plan.scan) : Optics{};
  for (const Step& step : plan.preprocessing.table()) {
    const bool asked = step.hindrance && step.asked_for(plan.preprocessing);
    const std::string hindrance = asked ? step.hindrance(plan.preprocessing) : "";
    require<GeometryError>(hindrance.empty(), hindrance);
  }
  plan.margin = margin_of(plan.preprocessing);
  plan.needs_all_views = std::ranges::any_of(plan.preprocessing.table(), [&](const Step& step) {
    return step.needs_all_views && step.asked_for(plan.preprocessing);
  });
}

/// Whether each datum tells how many photons it is made of.
bool counts_are_known(const Plan& plan, const io::ScanInfo& info) {
  const Preprocessing& how = plan.preprocessing;
  return how.minus_log && info.flats > 0 && !has_row_axes(plan.scan) &&
         std::ranges::none_of(how.table(),
                              [&](const Step& step) { return step.makes_new_noise && step.asked_for(how); });
}

}  // namespace

std::string_view Plan::method_name() const {
  const bool crossed = !rows_are_slices(scan) && !method->name_for_cones.empty();
  return crossed ? method->name_for_cones : method->name;
}

bool Plan::by_views() const { return !method->takes_whole && beam_of(scan).by_views; }

bool Plan::filters() const { return method->filters || options.initial == Initial::fbp; }

bool Plan::gpus_prepare() const {
  const bool all_views = needs_all_views || preprocessing.weights;
  if (over_ranks() && preprocessing.weights) return false;
  return home().is_cuda() && gpu_does_all(preprocessing) && (home().members() == 1 || !all_views);
}

io::VolumePlace Plan::place() const {
  io::VolumePlace place{grid, pitch_known, full_size, first};
  if (!pitch_known)
    for (std::size_t i = 0; i < 3; ++i) {
      place.grid.pitch[i] = std::ldexp(grid.pitch[i], preprocessing.binning);
      place.grid.centre[i] = std::ldexp(grid.centre[i], preprocessing.binning);
    }
  return place;
}

Plan make_plan(const io::ScanInfo& info, const Recipe& asked) {
  Plan plan;
  require<DeviceError>(!asked.devices.empty(), "recipe: no device is given");
  Recipe recipe = asked;
  if (asked.row_axis_bins.empty()) recipe.steps = with_recorded_pose(asked.steps, info);
  recipe.devices = devices_for(info.scan, asked.devices);
  plan.method = &method_named(recipe.method);
  plan.options = static_cast<const MethodOptions&>(recipe);
  plan.options.initial = recipe.initial.value_or(plan.method->initial);
  plan.looks_ahead = plan.method->is_open && plan.method->is_open(plan.options);
  plan.max_floored_percent = recipe.max_floored_percent;
  plan.allow_unmatched = recipe.allow_unmatched;
  plan.streams = recipe.streams;
  plan.stored_bytes = recipe.stored_bytes;
  plan.devices = recipe.devices;
  plan.ranks = recipe.ranks;
  const bool fewest = (recipe.fewest_devices || !plan.ranks.is_alone()) && plan.method->takes_whole &&
                      !rows_are_slices(info.scan);
  if (recipe.follow || fewest) plan.devices.resize(1, Device::cpu());
  Scan scan = info.scan;
  Detector& whole = detector_of(scan);
  plan.pitch_known = info.pixel_size_mm.has_value();
  whole.axis_bin =
      recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * static_cast<double>(whole.bins - 1)));
  if (recipe.axis_bin) share_axis(scan);
  if (!recipe.row_axis_bins.empty()) give_row_axes(scan, recipe.row_axis_bins);
  plan.axis_in_file = whole.axis_bin;
  validate(scan);
  plan.views = whole_or(recipe.views, static_cast<Index>(angles_of(scan).size()));
  plan.rows = whole_or(recipe.rows, whole.rows);
  plan.bins = whole_or(recipe.bins, whole.bins);
  plan.preprocessing =
      preprocessing_of(recipe.steps, plan.bins, recipe.binning, recipe.gain, recipe.stop_by_discrepancy);
  plan.flats = flat_use_of(info, recipe.steps);
  plan.preprocessing.row_shifts = row_shifts_of(info, plan.rows.size(), recipe.binning);
  plan.rows_together = rows_together(plan.rows.size(), recipe.binning);
  plan.preprocessing.rows_together = plan.rows_together;
  plan.rows_there = rows_beside(plan, whole.rows);
  set_upright(scan, recipe, plan);
  plan.scan = crop(scan, plan.views, plan.rows, plan.bins);
  if (recipe.binning > 0) plan.scan = bin_down(plan.scan, recipe.binning, plan.pitch_known);
  choose_pose(plan, recipe);
  if ((recipe.axis_bin || info.axis_bin) && row_axes_of(plan.scan).empty())
    plan.preprocessing.axis = detector_of(plan.scan).axis_bin;
  choose_steps(plan);
  choose_solver_options(plan);
  plan.preprocessing.weights = plan.method->weighs_data && counts_are_known(plan, info);
  plan.preprocessing.keeps_variances = plan.over_ranks();
  choose_grids(plan, recipe, info.field_of_view, scan);
  beam_of(plan.scan).choose_execution(plan, recipe);
  if (recipe.follow) {
    choose_batches(plan, recipe, info);
  } else {
    choose_placement(plan, recipe);
    choose_portions(plan);
    choose_chunks(plan, recipe, info);
  }
  choose_padding(plan, recipe);
  require_seen(plan);
  const bool axis_known = recipe.axis_bin || info.axis_bin || !recipe.row_axis_bins.empty();
  if (info.field_of_view == io::FieldOfView::doubled) require_half_acquisition(plan, axis_known);
  warn_of_columns(plan, whole.bins);
  add_warnings(plan, recipe, axis_known);
  return plan;
}

}  // namespace tandem::pipeline
