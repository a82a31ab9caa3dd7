#include "complete.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "../../calibration/attenuation.hpp"
#include "../../calibration/moments.hpp"
#include "../../calibration/repeated_view.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../counts/open_ends.hpp"
#include "../../counts/preprocess.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../io/files/text.hpp"
#include "../beams/beam.hpp"
#include "../beams/ray_gap.hpp"
#include "../methods/method.hpp"
#include "../plan/grids.hpp"
#include "../plan/make_job.hpp"
#include "../plan/margin_rows.hpp"
#include "first_volume.hpp"
#include "hardening_of_scan.hpp"
#include "rows_of_scan.hpp"
#include "support_of_scan.hpp"

namespace tandem::pipeline {

namespace {

Range range_of(const char* option, const std::optional<Range>& asked, Index count) {
  const Range r = whole_or(asked, count);
  require<GeometryError>(0 <= r.first && r.first < r.last && r.last <= count, spelled(option), " ", r.first,
                         ":", r.last, ": empty or outside 0:", count);
  return r;
}

/// @throws GeometryError where opposite rays are not mirror images about one bin
void require_search(const io::ScanInfo& info, const StepValues& steps) {
  require<GeometryError>(axis_of(info.scan).has_value(), "the views of a ", kind_of(info.scan),
                         " beam have no rotation axis that could be found");
  const OffCircle& off = info.off_circle;
  const bool moved = info.is_no_circle && !(off.bin_shifts.empty() && off.row_shifts.empty());
  const std::string give = "; give " + spelled("rotation-axis") + " X";
  require<GeometryError>(view_shifts_of(info.scan).empty() && !moved,
                         "the axis is not searched where the images of the views are shifted (",
                         spelled("view-shifts"), ", of a cone beam ", spelled("view-row-shifts"),
                         ", or the scan says so)", give, ", or look at `tandem recon ", spelled("sweep"),
                         "`");
  const auto leans = [&steps](const Option<Number>& option) { return option.of(steps).value_or(0) != 0; };
  require<GeometryError>(
      !leans(option::axis_tilt) && (beam_of(info.scan).roll || !leans(option::detector_roll)),
      "the axis is not searched with ", spelled("axis-tilt"), ", nor with ", spelled("detector-roll"),
      " in a cone beam", give);
  require<GeometryError>(!off.curved, "the axis is not searched on a curved detector", give);
}

/// What the uncertainty of an axis comes from, found from so many rows.
std::string source_of_doubt(const calibration::AxisEstimate& axis, Index rows) {
  const char* parts = axis.method == calibration::AxisMethod::vo ? "frequencies" : "groups of views";
  return io::words(rows == 1 ? "" : "rows and ", parts, rows == 1 ? " of the one row" : "",
                   " differ by so much about it, or other places fit nearly as well");
}

void warn_of_doubts(const calibration::AxisEstimate& axis, const Scan& scan, Index rows,
                    const Listener& listener) {
  constexpr double doubtful = 0.3;  // even rows of air agree by up to so much with some axis
  constexpr double blurred = 0.5;   // bins
  const double turn = period_of(scan).value_or(whole_turn);
  const std::string advice = calibration::axis_advice(angles_of(scan), turn, detector_of(scan).rows > 1);
  if (axis.agreement < doubtful)
    listener.warn(io::words("with this axis, opposite views have ", std::round(100 * axis.agreement),
                            " % of their structure in common; the rest is noise, or no axis fits; ", advice));
  if (axis.uncertainty <= blurred) return;
  listener.warn(io::words(axis.cut_off ? "the sample reaches beyond the detector: " : "",
                          "the axis is uncertain by ", axis.uncertainty,
                          " bins: ", source_of_doubt(axis, rows), "; ", advice));
}

/// Requires that the axis is known well enough to say that one side of the detector sees more than the other.
void require_known_sides(const Selection& selected, const io::ScanInfo& info,
                         const calibration::AxisEstimate& axis) {
  constexpr double most = 5;  // bins
  if (axis.uncertainty <= most || info.field_of_view == io::FieldOfView::doubled) return;
  Scan scan = info.scan;
  detector_of(scan).axis_bin = axis.axis_bin;
  scan = crop(scan, selected.views, selected.rows, selected.bins);
  require<GeometryError>(!half_acquisition(scan), spelled("rotation-axis"), " auto: bin ", axis.axis_bin,
                         " +- ", axis.uncertainty,
                         " would make the scan a half acquisition, and is too uncertain for that; are the "
                         "angles right? Give ",
                         spelled("rotation-axis"), " X, or ", spelled("file-type"),
                         " double_fov if it is one");
}

}  // namespace

Selection selection_of(const Recipe& recipe, const io::ScanInfo& info) {
  const Detector& whole = detector_of(info.scan);
  return {range_of("views", recipe.views, views_of(info.scan)),
          range_of("detector-rows", recipe.rows, whole.rows), range_of("columns", recipe.bins, whole.bins)};
}

calibration::AxisEstimate find_axis_in(io::ScanReader& reader, const Recipe& recipe,
                                       const calibration::AxisSearch& search, const std::vector<Index>& rows,
                                       const Listener& listener) {
  const io::ScanInfo& info = reader.info();
  require_search(info, recipe.steps);
  const Selection s = selection_of(recipe, info);
  const std::vector<float> lines = line_integrals(reader, recipe, {s.views}, rows, listener);
  listener.stage({"find axis", 0, 1, {}, "searches"});
  calibration::AxisSearch shifted = search;
  shifted.aside = info.field_of_view == io::FieldOfView::doubled;
  const double first = s.bins.first;
  if (shifted.between)
    for (double& edge : *shifted.between) edge -= first;
  calibration::AxisEstimate axis =
      calibration::find_axis(lines, crop(info.scan, s.views, s.rows, s.bins), std::ssize(rows), shifted);
  if (axis.turns_back)
    listener.warn("views agree better in the other " + spelled("rotation-direction") + "; try it");
  axis.axis_bin += first;
  if (axis.axis_if_repeated) *axis.axis_if_repeated += first;
  return axis;
}

calibration::AxisEstimate find_axis(io::ScanReader& reader, const Recipe& recipe,
                                    const calibration::AxisSearch& search, Index count,
                                    const Listener& listener) {
  const Scan& scan = reader.info().scan;
  const std::vector<Index> rows =
      calibration::rows_for_axis(scan, selection_of(recipe, reader.info()).rows, count);
  const calibration::AxisEstimate axis = find_axis_in(reader, recipe, search, rows, listener);
  warn_of_doubts(axis, scan, std::ssize(rows), listener);
  return axis;
}

void warn_of_repeated_view(io::ScanReader& reader, const Recipe& recipe, const io::OpenOptions& how,
                           const std::vector<double>& axes, const Listener& listener) {
  if (!how.arc_deg || how.arc_inclusive) return;
  const io::ScanInfo& info = reader.info();
  const Selection s = selection_of(recipe, info);
  const Index views = views_of(info.scan);
  const double turns = *how.arc_deg / 360;
  const bool whole = turns == std::round(turns),
             half = 2 * turns == std::round(2 * turns) && period_of(info.scan) == half_turn;
  if (views < 4 || s.views.size() < views || !(whole || half)) return;
  const std::vector<Index> rows = calibration::rows_for_axis(info.scan, s.rows, 5);
  const std::vector<float> lines =
      line_integrals(reader, recipe, {{0, 2}, {views - 2, views}}, rows, listener);
  const auto repeats = [&](double axis) {
    const Shape shape{4, std::ssize(rows), s.bins.size()};
    const auto mirror = whole ? std::nullopt : std::optional(axis - s.bins.first);
    return calibration::repeats_first_view(lines, shape, {0, 1, 2, 3}, mirror);
  };
  if (!std::any_of(axes.begin(), axes.end(), repeats)) return;
  listener.warn(io::words("the last view looks like the first one", whole ? "" : ", mirrored",
                          "; if the scan ends where its arc does, give ", spelled("arc"), ' ', *how.arc_deg,
                          ",inclusive"));
}

namespace {

/// Takes the direction of total variation out of a recipe, if `--limited-angle` set it and no view lacks.
void leave_out_direction(Recipe& recipe, const io::ScanInfo& info, const Listener& listener) {
  if (!recipe.finds_tv_direction || !recipe.direction_if_it_fits) return;
  Recipe without = recipe;
  without.finds_tv_direction = false, without.steps = without_hardening(without.steps);
  if (widest_ray_gap(make_job(info, without).scan).is_wide()) return;
  recipe.finds_tv_direction = false;
  listener.note(spelled("limited-angle") + " auto: the views look from all around, so all directions of " +
                "total variation weigh the same");
}

/// Takes out of a recipe what `--physics` stands for, and what this scan cannot have.
void leave_out_what_does_not_fit(Recipe& recipe, const io::ScanInfo& info, const Listener& listener) {
  const auto note = [&](const std::string& text) { listener.note(spelled("physics") + " auto: " + text); };
  if (recipe.circles_if_they_fit && recipe.padding == Padding::circle) {
    Recipe usual = recipe;
    usual.padding.reset(), usual.steps = without_hardening(usual.steps);
    if (std::holds_alternative<FlexibleBeam>(make_job(info, usual).scan)) {
      recipe.padding.reset();
      note("rows go on as usual, since the views are on no circle, or the detector is curved");
    }
  }
  if (!recipe.mends_metal || !recipe.metal_if_it_fits) return;
  const std::string hindrance = hindrance_of_first_volume(recipe, info);
  if (hindrance.empty()) return;
  recipe.mends_metal = false;
  note("metal is not looked for: " + hindrance);
}

/// Whether the filter takes circles where the user leaves the padding open.
bool may_go_round(const Recipe& recipe, const io::ScanInfo& info) {
  const Method& method = method_named(recipe.method);
  return !recipe.padding && !recipe.follow && method.filters && !method.iterates() &&
         recipe.fbp_filter.window != Window::none && !std::holds_alternative<FlexibleBeam>(info.scan) &&
         !info.off_circle.curved;
}

/// The recipe without the steps that need all views.
Recipe with_steps_of_views(Recipe recipe) {
  for (const Step& step : steps())
    for (const StepOption& option : step.options)
      if (step.needs_all_views) recipe.steps = without(std::move(recipe.steps), option);
  return recipe;
}

/// The mean of the last bins of a row, less four times what noise makes of it. The differences of neighbours
/// tell the noise.
double surely_at_end(const float* line, Index bins, bool at_high_end) {
  const Index count = std::max<Index>(6, bins / 20);
  const float* from = at_high_end ? line + bins - count : line;
  const double mean = std::accumulate(from, from + count, 0.0) / count;
  double squares = 0;
  for (Index b = 1; b < count; ++b) squares += std::pow(from[b] - from[b - 1], 2) / 2;
  return mean - 4 * std::sqrt(squares / (count - 1) / count);
}

/// Whether rows do not come down to air at an end that counts, in one of some views and rows. They are few,
/// and the same whatever runs afterwards, so that no scan is read twice for it.
bool looks_cut_off(io::ScanReader& reader, const Recipe& recipe, const Listener& listener) {
  constexpr Index few_views = 15, few_rows = 3, fewest_bins = 12;
  const io::ScanInfo& info = reader.info();
  const Selection s = selection_of(recipe, info);
  const std::vector<Index> rows =
      calibration::rows_for_axis(info.scan, {0, detector_of(info.scan).rows}, few_rows);
  const Index views = std::min(few_views, s.views.size()), lines = views * std::ssize(rows);
  if (lines == 0 || s.bins.size() < fewest_bins) return false;
  std::vector<Range> some;
  for (Index k = 0; k < views; ++k) {
    const Index view = s.views.first + (2 * k + 1) * s.views.size() / (2 * views);
    some.push_back({view, view + 1});
  }
  std::vector<float> y = line_integrals(reader, with_steps_of_views(recipe), some, rows, listener);
  const Scan scan = scan_of_rows(recipe, info, s, {rows.front(), rows.back() + 1});
  const bool one_side = half_acquisition(scan), farther_is_high = sides(detector_of(scan)).direction > 0;
  const Image<const float> all{y.data(), 1, lines, s.bins.size(), std::ssize(y), s.bins.size()};
  for (Index line = 0; line < lines; ++line) {
    const double mean = level_of(all, line).mean;
    const auto is_open = [&](bool at_high_end) {
      return above_air(surely_at_end(&all(0, line, 0), s.bins.size(), at_high_end), mean);
    };
    if ((!(one_side && farther_is_high) && is_open(false)) ||
        (!(one_side && !farther_is_high) && is_open(true)))
      return true;
  }
  return false;
}

/// The attenuation beyond the ends of rows, if it is needed and not given. All ranks have the same.
void complete_padding(Recipe& recipe, io::ScanReader& reader, const Listener& listener) {
  const bool asked = recipe.padding == Padding::circle;
  if (recipe.fbp_filter.attenuation > 0) return;
  give_circles(
      recipe,
      of_first(recipe.ranks, recipe.ranks.is_first() ? attenuation_beyond(reader, recipe, listener) : 0.0));
  if (!asked) return;  // the run warns of such rows, and says what becomes of them
  listener.note(recipe.padding != Padding::circle
                    ? "padding: no line integral is above zero, so no row has to go on with a circle"
                    : io::words("padding by circles of attenuation ", recipe.fbp_filter.attenuation,
                                reader.info().pixel_size_mm ? " 1/mm" : " 1/pixel"));
}

/// The axis of the recipe, as it was found.
std::vector<double> take_axis(Recipe& recipe, io::ScanReader& reader, const Selection& selected,
                              const Listener& listener) {
  if (!recipe.ranks.is_first()) {
    recipe.axis_bin = of_first(recipe.ranks, 0.0);
    return {};
  }
  const calibration::AxisEstimate axis = find_axis(reader, recipe, {}, 5, listener);
  require_known_sides(selected, reader.info(), axis);
  recipe.axis_bin = of_first(recipe.ranks, axis.axis_bin);
  listener.note("rotation axis at bin " + io::with_uncertainty(axis.axis_bin, axis.uncertainty) + " (" +
                name_of(axis.method) + ")");
  return axes_of(axis);
}

}  // namespace

double attenuation_beyond(io::ScanReader& reader, const Recipe& recipe, const Listener& listener) {
  if (recipe.fbp_filter.attenuation > 0) return recipe.fbp_filter.attenuation;
  const Scan& scan = reader.info().scan;
  if (recipe.padding != Padding::circle) {
    if (!may_go_round(recipe, reader.info())) return 0;
    try {
      if (!looks_cut_off(reader, recipe, listener)) return 0;
    } catch (const GeometryError&) {  // what is wrong, the run will meet and say
      return 0;
    }  // a file or memory that is not there now may be there another time, and then bits would be others
  }
  const Selection s = selection_of(recipe, reader.info());
  const std::vector<Index> rows = calibration::rows_for_axis(scan, {0, detector_of(scan).rows}, 5);
  const std::vector<float> lines = line_integrals(reader, recipe, {s.views}, rows, listener);
  const double bin_mm = distance_from_axis(scan, detector_of(scan).bin_pitch);
  return std::max(0.0, calibration::attenuation_of_round(lines, s.bins.size(), bin_mm));
}

void give_circles(Recipe& recipe, double attenuation) {
  recipe.fbp_filter.attenuation = attenuation;
  if (attenuation > 0)
    recipe.padding = Padding::circle;
  else if (recipe.padding == Padding::circle)
    recipe.padding.reset();
}

Completed complete(Recipe& recipe, io::ScanReader& reader, const Listener& listener, bool any_external) {
  const Selection selected = selection_of(recipe, reader.info());
  recipe.views = selected.views, recipe.rows = selected.rows, recipe.bins = selected.bins;
  if (!recipe.row_axes.empty())
    recipe.row_axis_bins = io::read_numbers(recipe.row_axes, "axis bin", "from 0", any_external);
  Completed by;
  if (recipe.find_axis) by.axes = take_axis(recipe, reader, selected, listener);
  leave_out_what_does_not_fit(recipe, reader.info(), listener);
  leave_out_direction(recipe, reader.info(), listener);
  std::optional<FirstOfScan> first;
  if (recipe.mends_metal) by.metal = take_metal(recipe, reader, first, listener);
  if (option::beam_hardening.is_word(recipe.steps, "auto"))
    by.hardening = take_hardening(recipe, reader, std::move(first), listener);
  by.support = take_support(recipe, reader, listener);
  complete_padding(recipe, reader, listener);
  return by;
}

}  // namespace tandem::pipeline
