#include "recon_scan.hpp"

#include <sstream>

#include "../core/error.hpp"
#include "../pipeline/methods/method.hpp"
#include "../pipeline/ranks.hpp"
#include "scan_options.hpp"

namespace tandem::apps {

namespace {

/// Looks for the axis if that is asked for, and gives it to the recipe; the axes that are left open. Of
/// several ranks, the first one looks.
std::vector<double> axes_found(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  if (!o.axis_auto) return {};
  const Comm ranks = Comm::world();
  if (!ranks.is_first()) {
    o.recipe.axis_bin = pipeline::of_first(ranks, 0.0);
    return {};
  }
  const pipeline::AxisEstimate axis = find_axis_of(reader, o.scan, {}, 5, progress);
  o.recipe.axis_bin = pipeline::of_first(ranks, axis.axis_bin);
  std::ostringstream text;
  text << "rotation axis at bin " << axis.axis_bin << " +- " << axis.uncertainty << " ("
       << name_of(axis.method) << ")";
  progress.note(text.str());
  return axes_of(axis);
}

}  // namespace

std::vector<double> complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  const Selection selected = select(o.scan, reader.info());
  o.recipe.views = selected.views;
  o.recipe.rows = selected.rows;
  o.recipe.bins = selected.bins;
  if (!o.row_axes.empty()) o.recipe.row_axis_bins = io::read_numbers(o.row_axes, "axis bin", "from 0");
  return axes_found(o, reader, progress);
}

void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan) {
  const std::string& name = o.recipe.method;
  require<GeometryError>(name == plan.method->name || name == plan.method_name(),
                         "--reconstruction-algorithm ", name, ": the scan is a parallel beam; give ",
                         plan.method->name);
  require<GeometryError>(!o.recipe.model || plan.model == o.recipe.model,
                         "--model goes with a parallel beam only");
}

}  // namespace tandem::apps
