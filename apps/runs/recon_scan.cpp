#include "recon_scan.hpp"

#include "../../core/error.hpp"
#include "../../pipeline/memory/budget.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/ranks.hpp"
#include "../options/scan_options.hpp"
#include "lines.hpp"
#include "ranks.hpp"

namespace tandem::apps {

namespace {

/// Requires that the axis is known well enough to say that one side of the detector sees more than the other.
void require_known_sides(const ReconOptions& o, const io::ScanInfo& info,
                         const pipeline::AxisEstimate& axis) {
  constexpr double most = 5;  // bins
  if (axis.uncertainty <= most || info.field_of_view == io::FieldOfView::doubled) return;
  Scan scan = info.scan;
  detector_of(scan).axis_bin = axis.axis_bin;
  scan = crop(scan, *o.recipe.views, *o.recipe.rows, *o.recipe.bins);
  require<GeometryError>(!half_acquisition(scan), "--rotation-axis auto: bin ", axis.axis_bin, " +- ",
                         axis.uncertainty,
                         " would make the scan a half acquisition, and is too uncertain for that; are the "
                         "angles right? Give --rotation-axis X, or --file-type double_fov if it is one");
}

/// Looks for the axis if that is asked for, and gives it to the recipe. Returns the axes that are left open.
/// If there are several ranks, the first one looks.
std::vector<double> axes_found(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  if (!o.axis_auto) return {};
  const Comm ranks = Comm::world();
  if (!ranks.is_first()) {
    o.recipe.axis_bin = of_first(ranks, 0.0);
    return {};
  }
  const pipeline::AxisEstimate axis = find_axis_of(reader, o.scan, {}, 5, progress);
  require_known_sides(o, reader.info(), axis);
  o.recipe.axis_bin = of_first(ranks, axis.axis_bin);
  progress.note("rotation axis at bin " + with_uncertainty(axis.axis_bin, axis.uncertainty) + " (" +
                name_of(axis.method) + ")");
  return axes_of(axis);
}

}  // namespace

void suit_ranks(ReconOptions& o) {
  const Comm ranks = Comm::world();
  if (ranks.is_alone()) return;
  o.recipe.ranks = ranks;
  const std::string count = std::to_string(ranks.size()) + " ranks: ";
  if (o.recipe.follow) throw UsageError(count + "--follow is done by one process; start one");
  if (!o.compared.empty()) throw UsageError(count + "--compare is done by one process; start one");
  if (!o.memory_gib) o.recipe.host_bytes = pipeline::spare_host_memory() / ranks_on_this_host();
  if (o.common.threads == 0) o.common.threads = threads_of_this_rank();
  if (ranks.is_first()) return;
  o.common.quiet = true;
  o.serve.reset();
  for (std::string* file : {&o.common.json, &o.common.log, &o.preview, &o.save_config}) file->clear();
}

std::vector<double> complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  const Selection selected = select(o.scan, reader.info());
  o.recipe.views = selected.views;
  o.recipe.rows = selected.rows;
  o.recipe.bins = selected.bins;
  if (!o.row_axes.empty()) o.recipe.row_axis_bins = io::read_numbers(o.row_axes, "axis bin", "from 0");
  return axes_found(o, reader, progress);
}

void tell_notes(const ReconOptions& o, const io::ScanInfo& info, ProgressLine& progress) {
  say_notes(info, o.scan, progress);
  const bool other_axis = o.recipe.axis_bin || !o.recipe.row_axis_bins.empty();
  if (!other_axis && !info.axis_note.empty()) progress.note("note: " + info.axis_note);
}

void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan) {
  const std::string& name = o.recipe.method;
  require<GeometryError>(name == plan.job.method->name || name == plan.job.method_name(),
                         "--reconstruction-algorithm ", name, ": the scan is a parallel beam; give ",
                         plan.job.method->name);
}

}  // namespace tandem::apps
