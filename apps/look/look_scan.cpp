#include "look_scan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "../../calibration/find.hpp"
#include "../../core/error.hpp"
#include "../../options/steps.hpp"
#include "../../pipeline/complete/frames.hpp"
#include "../../pipeline/complete/tell_hardening.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/watch/live.hpp"
#include "../options/recon_recipe.hpp"
#include "../pages/geometry_page.hpp"
#include "../reports/scan_report.hpp"
#include "../runs/follow.hpp"
#include "../runs/progress.hpp"
#include "../runs/recon_scan.hpp"
#include "look_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

pipeline::Look look_of(const json& asked, const std::array<Index, 3>& size) {
  pipeline::Look look;
  const auto [nz, ny, nx] = size;
  const bool nearest = flag_of(asked, "nearest");
  look.slice = std::min(whole_of(asked, "z", nz / 2, {0, nearest ? most_slices : nz}), nz - 1);
  look.coarser = whole_of(asked, "coarser", 1, {1, 65});
  if (const json region = asked.value("region", json()); !region.is_null()) {
    if (!region.is_array() || region.size() != 4 ||
        !std::ranges::all_of(region, [](const json& one) { return one.is_number_integer(); }))
      throw UsageError("region: [x0, x1, y0, y1] in whole voxels is needed");
    const auto within = [](Index first, Index last, Index count) {
      const Range r{std::clamp<Index>(first, 0, count - 1), std::clamp<Index>(last, 1, count)};
      return Range{std::min(r.first, r.last - 1), r.last};
    };
    look.x = within(region[0], region[1], nx), look.y = within(region[2], region[3], ny);
  }
  return look;
}

json head_of(const pipeline::LookedAt& at) {
  return {{"unit", at.unit},
          {"method", at.method},
          {"model", at.model},
          {"axis_bin", at.axis_bin},
          {"warnings", at.warnings},
          {"made", at.made},
          {"rows", {at.rows.first, at.rows.last}}};
}

/// The first view of the last turn that slices are made of, when so many views are there.
Index first_of_turn(const Scan& scan, Index views) {
  const std::vector<double>& angles = angles_of(scan);
  const double turn = period_of(scan).value_or(0) * (1 - 1e-9);
  Index first = views - 1;
  const auto angle = [&](Index view) { return angles[view]; };
  while (first > 0 && !angles.empty() && std::abs(angle(first - 1) - angle(views - 1)) < turn) --first;
  return first;
}

}  // namespace

LookScan::Opened& LookScan::opened(const json& options, const ReconOptions& parsed) {
  constexpr std::size_t most = 2;
  const std::string how = options_.opening(options);
  const auto found = std::ranges::find(opened_, how, &Opened::how);
  if (found != opened_.end()) {
    opened_.splice(opened_.begin(), opened_, found);
    return opened_.front();
  }
  if (options_.follows() && !opened_.empty())
    throw UsageError("--follow: what opens the scan is said on the command line of tandem look alone");
  opened_.push_front(opened_as(how, parsed));
  if (opened_.size() > most) opened_.pop_back();
  return opened_.front();
}

LookScan::Looked LookScan::looked(const json& options) {
  auto parsed = options_.parsed(options);
  ReconOptions& o = parsed->options;
  Opened& scan = opened(options, o);
  if (scan.growing && !o.recipe.padding) o.recipe.padding = Padding::cosine;  // as a run that follows it
  return {std::move(parsed), o, scan};
}

LookScan::Opened LookScan::opened_as(const std::string& how, const ReconOptions& parsed) const {
  Opened one{how, nullptr, nullptr, nullptr};
  if (options_.follows()) {
    ProgressLine progress(parsed.common);
    auto growing = wait_for_scan(parsed, progress);
    one.growing = growing.get();
    one.reader = std::move(growing);
  } else {
    one.reader = open(parsed.scan);
  }
  one.maker = std::make_unique<pipeline::SliceMaker>(*one.reader);
  one.frames = std::make_unique<LookFrames>(*one.reader);
  return one;
}

/// Tells something once, as long as nothing else is wrong.
void LookScan::tell(const std::string& trouble, ProgressLine& says) {
  if (trouble != told_ && !trouble.empty()) says.note("note: " + trouble);
  told_ = trouble;
}

Index LookScan::views_seen(io::GrowingScan& scan, ProgressLine& says) {
  try {
    return std::min(scan.look(), scan.planned());
  } catch (const FileError& fault) {
    tell(fault.what(), says);
    throw;
  }
}

json LookScan::grown() {
  const auto [parsed, o, followed] = looked(options_.start());
  if (followed.growing == nullptr)
    throw UsageError("the scan is not followed; start tandem look with --follow");
  io::GrowingScan& scan = *followed.growing;
  ProgressLine says(o.common);
  const Index views = views_seen(scan, says), planned = scan.planned();
  if (views > ring_.last) {
    ring_ = {first_of_turn(scan.info().scan, views), views};
    last_view_ = Clock::now();
  }
  const double waited = std::chrono::duration<double>(Clock::now() - last_view_).count(),
               patience = o.patience;
  const std::string next = scan.next();
  std::ostringstream trouble;
  if (waited > patience && ring_.last < planned)
    trouble << "no new view for " << patience << " s (--follow=seconds=S), " << ring_.last << " of "
            << planned << " are there" << (next.empty() ? "" : "; the next one does not count: " + next);
  tell(trouble.str(), says);
  return {{"views", ring_.last},
          {"planned", planned},
          {"unplanned", scan.unplanned()},
          {"ring", {ring_.first, ring_.last}},
          {"waited", waited},
          {"patience", patience},
          {"next", next}};
}

pipeline::LookedAt LookScan::looked_at(const json& options, std::optional<Index> z, const GoOn& go_on,
                                       calibration::OppositeViews* opposite) {
  const auto [parsed, o, scan] = looked(options);
  ProgressLine silent(o.common);
  complete_recipe(o, scan.maker->kept_scan(), silent);
  const Index slices = scan.maker->full_size(o.recipe)[0];
  const Index slice = z.value_or(slices / 2);
  require<GeometryError>(0 <= slice && slice < slices, "slice ", slice, ": the volume has ", slices,
                         " slices, from 0");
  pipeline::Look look;
  look.slice = slice, look.halves = true;
  if (opposite) *opposite = scan.maker->opposite_views(o.recipe, look, go_on);
  return scan.maker->slice(o.recipe, look, go_on);
}

std::array<Index, 3> LookScan::full_size(const json& options) {
  const auto [parsed, o, scan] = looked(options);
  ProgressLine silent(o.common);
  complete_recipe(o, scan.maker->kept_scan(), silent);
  return scan.maker->full_size(o.recipe);
}

Pictured LookScan::slice(const json& asked, bool lines, const GoOn& go_on) {
  const auto [parsed, o, scan] = looked(options_in(asked));
  ProgressLine silent(o.common);
  complete_recipe(o, scan.maker->kept_scan(), silent);
  if (scan.growing) o.recipe.views = ring_;
  const std::array<Index, 3> size = scan.maker->full_size(o.recipe);
  const pipeline::Look look = look_of(asked, size);
  pipeline::LandedSlice made = lines ? pipeline::LandedSlice{scan.maker->sinogram(o.recipe, look, go_on), {}}
                                     : scan.maker->landed_slice(o.recipe, look, go_on);
  pipeline::LookedAt& at = made.about;
  Pictured some{{}, head_of(at), std::move(made.voxels)};
  const Index width = at.picture.width, height = at.picture.height;
  some.head["size"] = size, some.head["z"] = look.slice, some.head["coarser"] = look.coarser;
  some.head["whole"] = {width, height};
  if (!lines) {
    const Range x = look.x.value_or(o.recipe.region_x.value_or(Range{0, size[2]})),
                y = look.y.value_or(o.recipe.region_y.value_or(Range{0, size[1]}));
    some.head["region"] = {x.first, x.last, y.first, y.last};
    some.head["pitch"] = at.place.grid.pitch[0] / look.coarser;
    some.head["length"] = at.place.unit_of_length();
    some.head["corner"] = {at.place.grid.x(-0.5), at.place.grid.y(-0.5), at.place.grid.z(0)};
  }
  if (lines) some.head["histogram"] = histogram_of(at.picture.grey);
  const Index side = whole_of(asked, "side", 4096, {16, 16385});
  some.picture = std::move(at.picture);
  if (width <= side && height <= side) return some;
  return {pipeline::shrunk(some.grey(), width, height, side), std::move(some.head)};
}

Pictured LookScan::frame(const json& asked) { return looked(options_in(asked)).scan.frames->frame(asked); }

json LookScan::axis(const json& asked) {
  const auto [parsed, o, scan] = looked(options_in(asked));
  o.common.quiet = o.common.silent = true;
  ProgressLine silent(o.common);
  const calibration::AxisEstimate axis =
      find_axis(*scan.reader, recipe_of(o.scan, scan.reader->info()), {}, 5, silent.listener());
  return {{"axis_bin", axis.axis_bin},
          {"uncertainty", axis.uncertainty},
          {"agreement", axis.agreement},
          {"method", name_of(axis.method)},
          {"warnings", silent.warnings()}};
}

void LookScan::find_for(LookOptions& options, const ReconOptions& start, ProgressLine& progress) {
  if (start.recipe.find_axis)
    options.begin_with("rotation-axis", text_of(axis({{"options", options.start()}})["axis_bin"]));
  if (!pipeline::option::beam_hardening.is_word(start.scan.steps, "auto")) return;
  const auto [parsed, o, scan] = looked(options.start());
  complete_recipe(o, *scan.reader, progress);
  const calibration::Hardening found = find_hardening(*scan.reader, o.recipe, progress.listener());
  tell_of_hardening(found, {}, progress.listener());
  if (!found.is_corrected()) return;
  pipeline::StepValues steps;
  pipeline::option::beam_hardening.set(steps, found.polynomial);
  pipeline::option::straight_from.set(steps, found.straight_from);
  for (const auto& [name, text] : taken_apart(*step_option("beam-hardening"), text_of_hardening(steps)))
    options.begin_with(name, text);
}

json LookScan::recipe(const json& asked) {
  const auto [parsed, o, scan] = looked(options_in(asked));
  ProgressLine silent(o.common);
  complete_recipe(o, scan.maker->kept_scan(), silent);
  const pipeline::Plan plan = make_plan(scan.reader->info(), o.recipe);
  require_its_beam(o, plan);
  return {{"toml", config_of(o, plan.job)},
          {"command", options_.command_line(options_in(asked), "volume.h5")},
          {"size", plan.job.grid.shape()},
          {"memory_bytes", plan.flow.memory.host},
          {"warnings", plan.warnings}};
}

calibration::Found LookScan::calibrated(const json& options, bool each_view, Listener listener) {
  const auto [parsed, o, scan] = looked(options);
  if (scan.growing)
    throw UsageError("calibrate takes a scan that is whole; start tandem look without --follow then");
  o.common.listener = std::make_shared<const Listener>(std::move(listener));
  ProgressLine progress(o.common);
  const pipeline::Recipe recipe = recipe_of(o.scan, scan.reader->info());
  const pipeline::Listener told = progress.listener();
  const calibration::MeasuredFrames frames = pipeline::frames_of(*scan.reader, recipe, told);
  const calibration::How how{o.recipe.devices.front(), true, std::ref(progress)};
  return each_view ? find_each_view(frames, {}, how) : find_by_frames(frames, how);
}

json LookScan::options_of_frames(const json& options) const { return options_.of_frames(options); }

json LookScan::calibration_commands(const json& frames, bool each_view, const json& options) const {
  return options_.calibration_commands(frames, each_view, options);
}

json LookScan::report() {
  const auto [parsed, o, scan] = looked(options_.start());
  const io::ScanInfo& info = scan.reader->info();
  json about = scan_report(info, o.scan);
  about["words"] = words_of(info.scan);
  about["follows"] = options_.follows();
  about["file"] = o.scan.path;
  about["start"] = options_.start();
  about["schema"] = options_.schema();
  return about;
}

std::string LookScan::geometry_png(std::size_t number) {
  const auto [parsed, o, scan] = looked(options_.start());
  const Scan stands = as_it_stands(scan.reader->info(), pipeline::option::detector_roll.of(o.scan.steps),
                                   pipeline::option::axis_tilt.of(o.scan.steps));
  const std::vector<io::Picture> pictures = geometry_pictures(stands, fitting_grid(stands));
  return number < pictures.size() ? io::png_of(pictures[number], 0, 1) : std::string();
}

}  // namespace tandem::apps
