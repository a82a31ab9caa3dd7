#include "recon_scan.hpp"

#include "../../core/error.hpp"
#include "../../core/process_memory.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/plan/grids.hpp"
#include "../../pipeline/ranks.hpp"
#include "../options/scan_options.hpp"
#include "ranks.hpp"

namespace tandem::apps {

void suit_ranks(ReconOptions& o) {
  const Comm ranks = Comm::world();
  if (ranks.is_alone()) return;
  o.recipe.ranks = ranks;
  const std::string count = std::to_string(ranks.size()) + " ranks: ";
  if (o.recipe.follow) throw UsageError(count + "--follow is done by one process; start one");
  if (!o.compared.empty()) throw UsageError(count + "--compare is done by one process; start one");
  if (!o.memory_gib) o.recipe.host_bytes = spare_host_memory() / ranks_on_this_host();
  if (o.common.threads == 0) o.common.threads = threads_of_this_rank();
  if (ranks.is_first()) return;
  o.common.quiet = o.common.silent = true;
  o.serve.reset();
  for (std::string* file : {&o.common.json, &o.common.log, &o.preview, &o.save_config}) file->clear();
}

namespace {

void take_selection(const ReconOptions& o, const io::ScanInfo& info, pipeline::Recipe& recipe) {
  const Selection selected = select(o.scan, info);
  recipe.views = selected.views, recipe.rows = selected.rows, recipe.bins = selected.bins;
}

}  // namespace

void require_memory(const ReconOptions& o, const io::ScanInfo& info) try {
  pipeline::Recipe recipe = o.recipe;
  take_selection(o, info, recipe);
  const Range bins = pipeline::whole_or(recipe.bins, detector_of(info.scan).bins);
  if (recipe.find_axis) recipe.axis_bin = 0.5 * (bins.first + bins.last - 1);
  make_plan(info, recipe);
} catch (const GeometryError&) {
  return;  // the whole recipe may make sense, or says better what does not
}

pipeline::Completed complete_recipe(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  take_selection(o, reader.info(), o.recipe);
  return pipeline::complete(o.recipe, reader, progress.listener(), o.scan.how.allow_external_files);
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
