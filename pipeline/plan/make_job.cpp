#include "make_job.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../geometry/free_views.hpp"
#include "../beams/beam.hpp"
#include "../beams/row_axes.hpp"
#include "../methods/method.hpp"
#include "grids.hpp"
#include "warn.hpp"

namespace tandem::pipeline {

namespace {

/// The rows of the file that can be binned in the same groups as the selected rows.
Range rows_beside(const Job& job, Index all) {
  const Index factor = job.rows_together, last = job.rows.last - job.rows.size() % factor;
  return {job.rows.first % factor, last + (all - last) / factor * factor};
}

/// Requires that some ray meets the grid, and warns if no ray comes near the axis, because the middle is not
/// seen then.
void require_seen(const Job& job, std::vector<std::string>& warnings) {
  const Scan& scan = job.upright();
  if (!axis_of(scan)) return;
  const Detector& d = detector_of(scan);
  const double beside = std::max(-0.5 - d.axis_bin, d.axis_bin - (d.bins - 0.5));
  if (!(beside > 0)) return;
  const double nearest = distance_from_axis(scan, beside * d.bin_pitch);
  const VolumeGrid& g = job.grid;
  const auto reach = [&](std::size_t k) { return std::abs(g.centre[k]) + 0.5 * g.size[k] * g.pitch[k]; };
  const double farthest = std::hypot(reach(0), reach(1));
  require<GeometryError>(nearest < farthest, "rotation axis: bin ", job.axis_in_file,
                         " is so far beside the columns ", job.bins.first, ":", job.bins.last,
                         " that no ray meets the volume; give the axis in bins from 0");
  warn(warnings, "the rotation axis, bin ", job.axis_in_file, ", is beside the columns ", job.bins.first, ":",
       job.bins.last, ": what is nearer to the axis than their rays is not seen");
}

/// Requires what a half acquisition needs: views all round, and an axis that is known and lies aside.
void require_half_acquisition(const Job& job, bool axis_known, std::vector<std::string>& warnings) {
  const std::vector<double>& angles = angles_of(job.upright());
  require<GeometryError>(
      all_round(angles), "half acquisition: the views leave ", in_degrees(widest_gap(angles, whole_turn)),
      " degrees of the turn open, at most 60 may be; give " + spelled("arc") + " 360 or " +
          spelled("angles") + " FILE, or " + spelled("file-type") + " standard if the scan is none");
  require<GeometryError>(
      axis_known,
      "half acquisition: the scan records no rotation axis, and its middle is not the axis; give " +
          spelled("rotation-axis") + " X or " + spelled("rotation-axis") + " auto");
  if (!half_acquisition(job.upright()))
    warn(warnings, "the scan is said to be a half acquisition, but the rotation axis, bin ", job.axis_in_file,
         ", is near the middle of the columns ", job.bins.first, ":", job.bins.last,
         "; check the axis, or give " + spelled("file-type") + " standard");
}

/// Warns if a step needs columns that are left out, since these are not read.
void warn_of_columns(const Job& job, Index all, std::vector<std::string>& warnings) {
  if (job.bins.size() == all) return;
  for (const Step& step : job.preprocessing.table())
    if (step.bins_beside && step.asked_for(job.preprocessing))
      warn(
          warnings, "columns ", job.bins.first, ":", job.bins.last, ": the step ", step.name, " looks at ",
          step.bins_beside(job.preprocessing),
          " bins beside each bin, and takes the last selected ones for those beyond; give all columns, and " +
              spelled("size") + " or " + spelled("region") + " for a part of the volume");
}

double angle_of(const Recipe& recipe, const Option<Number>& option) {
  return in_radians(option.of(recipe.steps).value_or(0));
}

void take_recorded(StepValues& values, const Option<Number>& option, const std::optional<double>& recorded,
                   double most) {
  if (!recorded || option.is_given(values)) return;
  require<GeometryError>(std::abs(*recorded) <= most, spelled(option.name), ": the scan records ", *recorded,
                         " degrees; at most ", most, " are taken away, give another angle, 0 for none");
  option.set(values, *recorded);
}

/// How the views deviate from their circle. @throws GeometryError if the scan has no use for a roll or a tilt
OffCircle off_circle(const Scan& scan, const io::ScanInfo& info, const Recipe& recipe) {
  OffCircle off = info.beside_circle();
  off.roll = angle_of(recipe, option::detector_roll), off.tilt = angle_of(recipe, option::axis_tilt);
  if (off.roll == 0 && off.tilt == 0) return off;
  const std::string option = spelled((off.tilt != 0 ? option::axis_tilt : option::detector_roll).name);
  const Beam& beam = beam_of(scan);
  require<GeometryError>(beam.set_upright || beam.roll, option, ": each view of a ", kind_of(scan),
                         " beam says how its detector stands; leave the option out");
  require<GeometryError>(detector_of(scan).rows > 1, option,
                         ": the scan has one row, which says nothing of others");
  require<GeometryError>(
      row_axes_of(scan).empty(), option,
      ": the scan records an axis for each row; give " + spelled("rotation-axis") + " X too");
  return off;
}

/// Gives the scan the geometry of the frames that the steps make: an upright detector, or an axis for each
/// row.
void set_upright(Scan& scan, const OffCircle& off, const Job& job) {
  if (off.roll == 0 && off.tilt == 0) return;
  const Beam& beam = beam_of(scan);
  if (beam.set_upright) return beam.set_upright(scan, off.tilt);
  require<GeometryError>(off.tilt == 0, spelled("axis-tilt") +
                                            " with a filter goes with a cone beam; in a parallel beam, rays "
                                            "of a tilted axis cross slices: give a solver, such as " +
                                            spelled("reconstruction-algorithm") + " cgls");
  beam.roll(scan, off.roll, job.bins);
}

/// The views as they were measured, if they deviate from the circle and the method takes them so. A filter
/// takes them only if the detector is curved. Rows with axes of their own cannot be views of any geometry.
std::optional<Scan> free_views(const Scan& scan, const OffCircle& off, const io::ScanInfo& info,
                               const Job& job, const Recipe& recipe) {
  require<GeometryError>(
      !off.curved || !recipe.resample_frames,
      spelled("resample-frames") + ": views of a curved detector are taken as they stand; leave it out");
  require<GeometryError>(off.any() || !recipe.resample_frames,
                         spelled("resample-frames") +
                             ": the frames of this scan are upright, with no roll, tilt or shift to take "
                             "away; leave it out");
  const bool takes = off.curved || (job.method->iterates() && recipe.initial != Initial::fbp &&
                                    !recipe.resample_frames && row_axes_of(scan).empty());
  require<GeometryError>(takes || !info.is_no_circle, job.method_name(), ": the views of this ",
                         kind_of(scan), " beam are shifted, or its sample climbs, and ",
                         job.method->iterates()
                             ? spelled("initial") + " fbp, " + spelled("resample-frames") +
                                   " and axes of rows are for circles; leave them out"
                             : "a filter takes a circle; leave " + spelled("view-shifts") + " and " +
                                   spelled("view-row-shifts") + " out, or give a solver, such as " +
                                   spelled("reconstruction-algorithm") + " cgls");
  return takes && off.any() ? std::optional<Scan>(as_free_views(scan, off)) : std::nullopt;
}

/// The selected views, rows and bins, binned.
Scan selected(const Job& job, const Scan& whole) {
  const Scan part = crop(whole, job.views, job.rows, job.bins);
  const int level = job.preprocessing.binning;
  return level > 0 ? bin_down(part, level, job.pitch_known) : part;
}

/// Sets the scan of the selected rows. Rays of point sources, and of a tilted axis, cross slices: then all
/// rows stay, of which those are read that the slices of the selected rows need.
void select(Job& job, const Scan& scan) {
  job.scan = selected(job, scan);
  job.rows_asked = {job.rows.first, job.rows.first + detector_of(job.scan).rows * job.rows_together};
  const bool binned_alike =
      job.rows_together == rows_together(job.rows_there.size(), job.preprocessing.binning);
  if (!rays_cross_slices(job.scan) || !binned_alike) return;
  job.rows = job.rows_there;
  job.scan = selected(job, scan);
}

/// Chooses the scan of the frames, and returns the whole scan. If views are taken as they were measured, no
/// step resamples frames.
Scan choose_scan(Job& job, const io::ScanInfo& info, const Recipe& recipe, Scan scan) {
  const OffCircle off = off_circle(scan, info, recipe);
  const std::optional<Scan> free = free_views(scan, off, info, job, recipe);
  if (!free) {
    set_upright(scan, off, job);
    select(job, scan);
    return scan;
  }
  if (beam_of(scan).set_upright) set_upright(scan, off, job);
  job.circle = selected(job, scan);
  select(job, *free);
  job.options.initial = recipe.initial.value_or(Initial::zero);
  job.preprocessing.row_shifts.clear();
  for (const auto* done : {&option::detector_roll, &option::axis_tilt})
    job.preprocessing.values.erase(std::string(done->name));
  return info.is_no_circle ? *free : scan;
}

/// Sets what the step `upright` needs to know. The scan is selected and binned already.
void choose_pose(Job& job, const Recipe& recipe) {
  const double roll = angle_of(recipe, option::detector_roll), tilt = angle_of(recipe, option::axis_tilt);
  if (const auto pose = beam_of(job.scan).pose; pose && (roll != 0 || tilt != 0))
    job.preprocessing.pose = pose(job.scan, roll, tilt, job.rows.first);
}

void choose_padding(Job& job, const Recipe& recipe) {
  Filter& filter = job.options.fbp_filter;
  filter.padding = recipe.padding.value_or(Padding::cosine);
  if (recipe.padding_bins) filter.padding_bins = *recipe.padding_bins >> job.preprocessing.binning;
  if (filter.padding != Padding::circle || !job.filters()) return;
  require<GeometryError>(
      !std::holds_alternative<FlexibleBeam>(job.scan), spelled("padding"),
      " circle: the views of this scan are on no circle, or their detector is curved; give "
      "another padding");
  if (!job.pitch_known) filter.attenuation = std::ldexp(filter.attenuation, job.preprocessing.binning);
}

/// Sets what steps need to know about the scan, and checks that the scan can have these steps.
void choose_steps(Job& job) {
  job.preprocessing.optics = job.pitch_known ? beam_of(job.scan).optics(job.scan) : Optics{};
  for (const Step& step : job.preprocessing.table()) {
    const bool asked = step.hindrance && step.asked_for(job.preprocessing);
    const std::string hindrance = asked ? step.hindrance(job.preprocessing) : "";
    require<GeometryError>(hindrance.empty(), hindrance);
  }
  job.margin = margin_of(job.preprocessing);
  job.needs_all_views = std::ranges::any_of(job.preprocessing.table(), [&](const Step& step) {
    return step.needs_all_views && step.asked_for(job.preprocessing);
  });
}

/// Whether each datum tells its number of photons.
bool counts_are_known(const Job& job, const io::ScanInfo& info) {
  const Preprocessing& how = job.preprocessing;
  return (how.minus_log ? info.flats > 0 : how.photons > 0) && !has_row_axes(job.scan) &&
         std::ranges::none_of(how.table(),
                              [&](const Step& step) { return step.makes_new_noise && step.asked_for(how); });
}

/// Requires that photons in air, if they are given, tell something that the data do not tell.
void require_use_of_photons(const Job& job) {
  const Preprocessing& how = job.preprocessing;
  if (how.photons == 0) return;
  require<GeometryError>(!how.minus_log, spelled("photons"), " ", how.photons,
                         ": the data are counts, which tell their photons; leave it out (",
                         spelled("stop") + " discrepancy:gain=G has counts per photon), or give ",
                         spelled("minus-log"), " false if the data are line integrals");
  require<GeometryError>(how.weights || how.noise, spelled("photons"), " ", how.photons,
                         ": frames are resampled, or rows have axes of their own, which changes the noise; "
                         "leave it out");
}

/// The scan of the file with the axis of the recipe, else of the file, else in the middle of the detector.
Scan scan_about_axis(const io::ScanInfo& info, const Recipe& recipe) {
  Scan scan = info.scan;
  require<GeometryError>(axis_of(scan) || (!recipe.axis_bin && recipe.row_axis_bins.empty()),
                         "rotation axis: the views of a ", kind_of(scan),
                         " beam have none; leave " + spelled("rotation-axis") + " out");
  Detector& whole = detector_of(scan);
  whole.axis_bin = recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * (whole.bins - 1)));
  if (recipe.axis_bin) share_axis(scan);
  if (!recipe.row_axis_bins.empty()) give_row_axes(scan, recipe.row_axis_bins);
  validate(scan);
  return scan;
}

/// Chooses what is read of the scan, and the preprocessing of the counts.
void choose_selection(Job& job, const io::ScanInfo& info, const Recipe& recipe, const Scan& scan) {
  const Detector& whole = detector_of(scan);
  job.views = whole_or(recipe.views, views_of(scan));
  job.rows = whole_or(recipe.rows, whole.rows);
  job.bins = whole_or(recipe.bins, whole.bins);
  job.preprocessing =
      preprocessing_of(recipe.steps, job.bins, recipe.binning, recipe.gain, recipe.stop_by_discrepancy);
  job.preprocessing.photons = static_cast<float>(recipe.photons.value_or(0));
  job.preprocessing.keeps_transmissions = job.method->kind.takes_blank && job.preprocessing.minus_log;
  job.flats = flat_use_of(info, recipe.steps);
  job.preprocessing.row_shifts = row_shifts_of(info, job.rows.size(), recipe.binning);
  job.rows_together = rows_together(job.rows.size(), recipe.binning);
  job.preprocessing.rows_together = job.rows_together;
  job.rows_there = rows_beside(job, whole.rows);
}

}  // namespace

io::VolumePlace Job::place() const {
  io::VolumePlace place{grid, pitch_known, full_size, first};
  if (!pitch_known)
    for (std::size_t i = 0; i < 3; ++i) {
      place.grid.pitch[i] = std::ldexp(grid.pitch[i], preprocessing.binning);
      place.grid.centre[i] = std::ldexp(grid.centre[i], preprocessing.binning);
    }
  return place;
}

StepValues with_recorded_steps(StepValues given, const io::ScanInfo& info) {
  constexpr double most = 10, most_in_parallel = 2;  // degrees
  take_recorded(given, option::detector_roll, info.roll_deg,
                beam_of(info.scan).roll ? most_in_parallel : most);
  take_recorded(given, option::axis_tilt, info.tilt_deg, most);
  if (info.line_integrals && !option::minus_log.is_given(given)) option::minus_log.set(given, false);
  return given;
}

void require_halves(const Job& job) {
  require<GeometryError>(!job.looks_ahead || views_of(job.scan) > 1, job.method_name(),
                         ": the weight is found from two halves of the views, and one view is read; give ",
                         spelled("tv-weight"), " X");
}

Job make_job(const io::ScanInfo& info, const Recipe& asked) {
  Recipe recipe = asked;
  if (asked.row_axis_bins.empty()) recipe.steps = with_recorded_steps(asked.steps, info);
  Job job;
  job.method = &method_named(recipe.method);
  job.options = recipe;
  if (!job.method->filters) job.options.first = {};  // solvers would trust line integrals that are made up
  const bool filtered = period_of(info.scan).has_value();
  job.options.initial = recipe.initial.value_or(filtered ? job.method->initial : Initial::zero);
  job.looks_ahead = job.method->is_open && job.method->is_open(job.options);
  job.pitch_known = info.pixel_size_mm.has_value();
  Scan scan = scan_about_axis(info, recipe);
  job.axis_in_file = detector_of(scan).axis_bin;
  choose_selection(job, info, recipe, scan);
  const Scan whole = choose_scan(job, info, recipe, std::move(scan));
  choose_pose(job, recipe);
  if ((recipe.axis_bin || info.axis_bin) && row_axes_of(job.scan).empty())
    job.preprocessing.axis = detector_of(job.upright()).axis_bin;
  choose_steps(job);
  choose_solver_options(job);
  require_halves(job);
  job.preprocessing.weights = job.method->weighs_data && counts_are_known(job, info);
  require_use_of_photons(job);
  choose_grids(job, recipe, info.field_of_view, whole);
  choose_padding(job, recipe);
  job.filtered = rows_after_filter(job);
  return job;
}

FilteredRows rows_after_filter(const Job& job) {
  return job.filters() && has_filter(job.scan) ? filtered_rows(job.scan)
                                               : FilteredRows{detector_of(job.scan)};
}

bool has_filter(const Scan& scan) {
  try {
    filtered_detector(scan);
  } catch (const GeometryError&) {
    return false;
  }
  return true;
}

void look_at_job(const Job& job, const io::ScanInfo& info, const Recipe& recipe,
                 std::vector<std::string>& warnings) {
  require_seen(job, warnings);
  const bool axis_known = recipe.axis_bin || info.axis_bin || !recipe.row_axis_bins.empty();
  require<GeometryError>(info.field_of_view != io::FieldOfView::doubled || axis_of(job.upright()),
                         "half acquisition: the views of a ", kind_of(job.scan),
                         " beam are none; leave " + spelled("file-type") + " out");
  if (info.field_of_view == io::FieldOfView::doubled) require_half_acquisition(job, axis_known, warnings);
  warn_of_columns(job, detector_of(info.scan).bins, warnings);
  constexpr Index few = 30;
  if (job.looks_ahead && views_of(job.scan) < few)
    warn(warnings, views_of(job.scan), " views tell little of the weight of total variation; compare some ",
         spelled("tv-weight"), " X");
  if (views_of(job.scan) == 1)
    warn(warnings, "one view is read, which does not tell where on its rays anything lies; give more views");
  if (!axis_known && axis_of(job.upright()))
    warn(warnings, "the scan records no rotation axis; the middle, bin ", job.axis_in_file,
         ", is taken (give " + spelled("rotation-axis") + " X or " + spelled("rotation-axis") + " auto)");
}

}  // namespace tandem::pipeline
