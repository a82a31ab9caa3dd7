#include "support_of_scan.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../../geometry/free_views.hpp"
#include "../plan/make_job.hpp"
#include "rows_of_scan.hpp"
#include "tell_hardening.hpp"

namespace tandem::pipeline {

namespace {

/// Rows that are spread over the whole detector, and the selected views and bins, as they were measured.
struct ShadowRows {
  FlexibleBeam scan;
  std::vector<Index> rows{};
  std::vector<float> lines{};  ///< line integrals (view, row, bin)
};

FlexibleBeam views_as_measured(const Recipe& recipe, const io::ScanInfo& info, const Selection& s) {
  Scan scan = info.scan;
  require<GeometryError>(recipe.row_axis_bins.empty() && (row_axes_of(scan).empty() || recipe.axis_bin),
                         spelled("support"), " disc: rows have axes of their own; give ", spelled("support"),
                         " disc:at=X,Y,RADIUS or FILE, and ", spelled("levels"), " LOW:HIGH");
  Detector& d = detector_of(scan);
  d.axis_bin = recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * (d.bins - 1)));
  if (recipe.axis_bin) share_axis(scan);
  OffCircle off = info.beside_circle();
  const StepValues steps = with_recorded_steps(recipe.steps, info);
  off.roll = in_radians(option::detector_roll.of(steps).value_or(0));
  off.tilt = in_radians(option::axis_tilt.of(steps).value_or(0));
  return crop(as_free_views(scan, off), s.views, {0, d.rows}, s.bins);
}

ShadowRows shadow_rows(const Recipe& recipe, io::ScanReader& reader, const Listener& listener) {
  constexpr Index most_rows = 17;
  const Selection s = selection_of(recipe, reader.info());
  ShadowRows shadow{views_as_measured(recipe, reader.info(), s)};
  const Index all = shadow.scan.detector.rows, count = std::min(most_rows, all);
  for (Index k = 0; k < count; ++k) shadow.rows.push_back((2 * k + 1) * all / (2 * count));
  shadow.lines = line_integrals(reader, recipe, {s.views}, shadow.rows, listener);
  listener.stage({"find support", 0, 1, {}, "fits"});
  return shadow;
}

/// Five digits.
std::string words_of(double number) {
  std::ostringstream text;
  text.precision(5);
  text << number;
  return text.str();
}

void tell_of(const calibration::ShadowDisc& found, bool pitch_known, const Listener& listener) {
  const Disc& disc = found.disc;
  const std::string unit = pitch_known ? " mm" : " pixels";
  listener.note(spelled("support") + ": a disc of radius " + words_of(disc.radius) + unit + " about (" +
                words_of(disc.x) + ", " + words_of(disc.y) + ")" + unit + "; " + std::to_string(found.edges) +
                " edges of its shadow are " + short_of(found.residual) + unit + " (rms) from it");
}

/// Notes the attenuation, and warns if it depends on how deep rays run.
void tell_of(const calibration::ShellAttenuation& found, bool pitch_known, const Listener& listener) {
  constexpr double too_much = 0.03;
  constexpr double different = 0.05;  // discs of acrylic, corrected for hardening, differed by 0.01 or less
  const std::string unit = pitch_known ? " 1/mm" : " 1/pixel";
  listener.note(spelled("levels") + ": the higher one is " + words_of(found.value) + unit +
                ", the median of " + std::to_string(found.rays) + " rays within the " + spelled("shell"));
  if (found.doubt > too_much)
    listener.warn(spelled("levels") + " LOW:auto: the " + spelled("shell") +
                  " is so thin that the higher level is uncertain by " +
                  std::to_string(std::lround(100 * found.doubt)) +
                  " %; give a thicker one if the object has it, or LOW:HIGH");
  if (std::abs(found.change.value_or(1) - 1) <= different) return;
  listener.warn(
      spelled("levels") + " LOW:auto: rays deep in the " + spelled("shell") + " have " +
      words_of(*found.change) +
      " times the attenuation of those near the edge: it is not full there, or thinner, or the beam "
      "hardens; see " +
      spelled("beam-hardening"));
}

/// The disc, or none, if it does not fit and may stay out.
std::optional<calibration::ShadowDisc> fitted(const Recipe& recipe, const ShadowRows& rows,
                                              const Listener& listener) {
  try {
    return calibration::fit_shadow_disc(rows.lines, rows.scan, rows.rows);
  } catch (const GeometryError& fault) {
    if (!recipe.support_if_it_fits) throw;
    listener.note(spelled("limited-angle") + " auto: no support is set: " + fault.what());
    return {};
  }
}

FoundSupport found_in(io::ScanReader& reader, const Recipe& recipe, const Listener& listener) {
  const bool pitch_known = reader.info().pixel_size_mm.has_value();
  const ShadowRows rows = shadow_rows(recipe, reader, listener);
  FoundSupport found;
  if (!recipe.support.disc) found.disc = fitted(recipe, rows, listener);
  if (found.disc) tell_of(*found.disc, pitch_known, listener);
  if (!recipe.finds_high_level) return found;
  const Disc& disc = found.disc ? found.disc->disc : recipe.support.disc.value();
  found.shell =
      calibration::attenuation_of_shell(rows.lines, rows.scan, rows.rows, disc, recipe.support.shell.value());
  const double voxel = pitch_known ? 1 : std::ldexp(1, recipe.binning);  // bins
  found.shell->value *= voxel;
  tell_of(*found.shell, pitch_known, listener);
  return found;
}

}  // namespace

FoundSupport take_support(Recipe& recipe, io::ScanReader& reader, const Listener& listener) {
  Support& support = recipe.support;
  const bool fits = support.is_disc && !support.disc;
  if (!fits && !recipe.finds_high_level) return {};
  require<GeometryError>(!recipe.finds_high_level || (support.is_disc && support.shell), spelled("levels"),
                         " LOW:auto takes HIGH from rays of known length; give ", spelled("support"),
                         " disc and ", spelled("shell"), " MM, or LOW:HIGH");
  FoundSupport found;
  if (recipe.ranks.is_first()) found = found_in(reader, recipe, listener);
  if (fits) {
    const Disc disc = of_first(recipe.ranks, found.disc ? found.disc->disc : Disc{});
    if (disc.radius > 0)
      support.disc = disc;
    else
      support = {};
  }
  if (!recipe.finds_high_level) return found;
  auto& [low, high] = *recipe.levels;
  high = static_cast<float>(of_first(recipe.ranks, found.shell ? found.shell->value : 0));
  require<GeometryError>(low < high, spelled("levels"), " ", low, ":auto: HIGH is found to be ", high,
                         ", which is not above LOW");
  return found;
}

}  // namespace tandem::pipeline
