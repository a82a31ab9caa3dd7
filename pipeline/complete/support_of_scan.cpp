#include "support_of_scan.hpp"

#include <algorithm>
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

/// The selected views and bins, with all rows, as they were measured.
FlexibleBeam views_as_measured(const Recipe& recipe, const io::ScanInfo& info, const Selection& s) {
  Scan scan = info.scan;
  require<GeometryError>(recipe.row_axis_bins.empty() && (row_axes_of(scan).empty() || recipe.axis_bin),
                         spelled("support"), " disc: rows have axes of their own; give ", spelled("support"),
                         " disc:at=X,Y,RADIUS or FILE");
  Detector& d = detector_of(scan);
  d.axis_bin = recipe.axis_bin.value_or(info.axis_bin.value_or(0.5 * (d.bins - 1)));
  if (recipe.axis_bin) share_axis(scan);
  OffCircle off = info.beside_circle();
  const StepValues steps = with_recorded_steps(recipe.steps, info);
  off.roll = in_radians(option::detector_roll.of(steps).value_or(0));
  off.tilt = in_radians(option::axis_tilt.of(steps).value_or(0));
  return crop(as_free_views(scan, off), s.views, {0, d.rows}, s.bins);
}

/// Five digits.
std::string words_of(double length) {
  std::ostringstream text;
  text.precision(5);
  text << length;
  return text.str();
}

calibration::ShadowDisc fitted(const Recipe& recipe, io::ScanReader& reader, const Listener& listener) {
  constexpr Index most_rows = 17;
  const io::ScanInfo& info = reader.info();
  const Selection s = selection_of(recipe, info);
  const FlexibleBeam scan = views_as_measured(recipe, info, s);
  const Index all = scan.detector.rows, count = std::min(most_rows, all);
  std::vector<Index> rows;
  for (Index k = 0; k < count; ++k) rows.push_back((2 * k + 1) * all / (2 * count));
  std::vector<float> lines = line_integrals(reader, recipe, {s.views}, rows, listener);
  listener.stage({"find support", 0, 1, {}, "fits"});
  return calibration::fit_shadow_disc(std::move(lines), scan, rows);
}

}  // namespace

std::optional<calibration::ShadowDisc> take_support(Recipe& recipe, io::ScanReader& reader,
                                                    const Listener& listener) {
  std::optional<calibration::ShadowDisc> found;
  if (recipe.ranks.is_first()) {
    found = fitted(recipe, reader, listener);
    const Disc& disc = found->disc;
    const std::string unit = reader.info().pixel_size_mm ? " mm" : " pixels";
    listener.note(spelled("support") + ": a disc of radius " + words_of(disc.radius) + unit + " about (" +
                  words_of(disc.x) + ", " + words_of(disc.y) + ")" + unit + "; " +
                  std::to_string(found->edges) + " edges of its shadow are " + short_of(found->residual) +
                  unit + " (rms) from it");
  }
  recipe.support.disc = of_first(recipe.ranks, found ? found->disc : Disc{});
  return found;
}

}  // namespace tandem::pipeline
