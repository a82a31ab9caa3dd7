// tandem recon: scan to volume.

#include <iostream>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../io/volume_parts.hpp"
#include "../../pipeline/methods/method.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/stopwatch.hpp"
#include "../batch.hpp"
#include "../command.hpp"
#include "../device_options.hpp"
#include "../files.hpp"
#include "../follow.hpp"
#include "../forecast.hpp"
#include "../live_page.hpp"
#include "../preview.hpp"
#include "../progress.hpp"
#include "../recipe_text.hpp"
#include "../recon_options.hpp"
#include "../recon_report.hpp"
#include "../resume.hpp"
#include "../scan_options.hpp"
#include "../settings_text.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// The inputs that decide the volume.
NamedFiles sources_of(const ReconOptions& o) {
  NamedFiles inputs = inputs_of(o.scan);
  inputs.push_back({"--initial", o.recipe.initial_file});
  return inputs;
}

/// What stands in the way before any file is opened.
void check_before(ReconOptions& o) {
  const bool matched = pipeline::method_named(o.recipe.method).needs_matched_pair;
  o.recipe.devices = chosen_devices(o.device, matched ? Pairing::matched : Pairing::any);
  o.recipe.fewest_devices = o.device.device == "auto";
  if (o.recipe.follow && o.recipe.devices.size() > 1 && !o.recipe.fewest_devices)
    throw UsageError("--follow works on one device; give --device " + o.recipe.devices.front().name());
  NamedFiles inputs = sources_of(o);
  inputs.push_back({"--truth", o.truth});
  inputs.push_back({"--like", o.like});
  check_files(o.common, inputs, outputs_of(o));
}

/// A name that a method has for cone beams is for nothing else, nor are models of parallel beams.
void require_its_beam(const ReconOptions& o, const pipeline::Plan& plan) {
  const std::string& name = o.recipe.method;
  require<GeometryError>(name == plan.method->name || name == plan.method_name(),
                         "--reconstruction-algorithm ", name, ": the scan is a parallel beam; give ",
                         plan.method->name);
  require<GeometryError>(!o.recipe.model || plan.model == o.recipe.model,
                         "--model goes with a parallel beam only");
}

/// Looks for the axis if that is asked for, and gives it to the recipe; the axes that are left open.
std::vector<double> axes_found(ReconOptions& o, io::ScanReader& reader, ProgressLine& progress) {
  if (!o.axis_auto) return {};
  const pipeline::AxisEstimate axis = find_axis_of(reader, o.scan, {}, 5, progress);
  o.recipe.axis_bin = axis.axis_bin;
  std::ostringstream text;
  text << "rotation axis at bin " << axis.axis_bin << " +- " << axis.uncertainty << " ("
       << name_of(axis.method) << ")";
  progress.note(text.str());
  return axes_of(axis);
}

/// The options of this run, for --config and --like: with the method that was taken, and the axis that was
/// found.
std::string config_of(const ReconOptions& o, const pipeline::Plan& plan) {
  std::map<std::string, std::string> found{
      {"reconstruction-algorithm", toml_of({std::string(plan.method_name())})}, {"rotation-axis-auto", ""}};
  if (o.axis_auto) found["rotation-axis"] = toml_number(plan.axis_in_file);
  return config_text(*o.command, found, [&](const std::string& option) { return applies(o, option); });
}

/// Says why a run with the options of a volume may give other bits.
void tell_of_like(const ReconOptions& o, const json& planned, ProgressLine& progress) {
  if (o.like.empty()) return;
  const json recipe = recipe_in(o.like);
  for (const char* key : {"version", "device", "model", "variant", "precision"})
    if (const json then = recipe.value(key, json()); then != planned[key])
      progress.note("note: --like " + o.like + " was made with " + key + " " + then.dump() +
                    ", this run has " + planned[key].dump() + "; voxels may differ by rounding");
}

/// Takes the name of --save-config, if it is given.
std::optional<io::Output> saved_config(const ReconOptions& o) {
  if (o.save_config.empty()) return std::nullopt;
  return io::Output(o.save_config, o.common.replace());
}

/// Says what a killed run left.
void tell_of_done(const std::vector<Range>& done, ProgressLine& progress) {
  progress.note(done.empty() ? "note: --resume: no killed run left anything here; this one begins anew"
                             : "note: --resume: " + words_of(done) +
                                   " are there already; what the report says of work is of the others");
}

/// --dry-run: the plan, and what it will take.
void show_plan(ReconOptions& o, const pipeline::Plan& plan, io::ScanReader& reader, const RunFiles& files,
               ProgressLine& progress, json planned) {
  RunForecast ahead(plan, reader.info(), files, {});
  if (!o.recipe.follow) ahead.measure(reader, progress);
  if (const std::string lack = ahead.lack_of_disk(); !lack.empty()) progress.warn(lack);
  planned["warnings"] = progress.warnings();
  planned["disk_bytes"] = ahead.disk_bytes();
  progress.clear();
  std::ostream& to = o.common.json == "-" ? std::cerr : std::cout;
  print_plan(to, plan, reader.info());
  if (!o.recipe.follow) {
    ahead.print(to);
    planned["forecast"] = ahead.planned();
  }
  write_report(o.common, planned);
}

void run_recon(ReconOptions& o, LivePage* page) {
  const ThreadLimit limit(o.common.threads);
  ProgressLine progress(o.common.quiet, page);
  const std::shared_ptr<io::GrowingScan> growing = o.recipe.follow ? wait_for_scan(o, progress) : nullptr;
  const std::shared_ptr<io::ScanReader> reader = growing ? growing : std::shared_ptr(open(o.scan));
  const Selection selected = select(o.scan, reader->info());
  o.recipe.views = selected.views;
  o.recipe.rows = selected.rows;
  o.recipe.bins = selected.bins;
  const std::vector<double> axes = axes_found(o, *reader, progress);
  const pipeline::Plan plan = make_plan(reader->info(), o.recipe);
  require_its_beam(o, plan);
  for (const std::string& note : reader->info().notes) progress.note("note: " + note);
  for (const std::string& warning : plan.warnings) progress.warn(warning);
  json planned = plan_json(plan, reader->info());
  planned["warnings"] = progress.warnings();
  const RunFiles files{o.scan.path, o.output, format_of(o, plan)};
  const std::string config = config_of(o, plan);
  std::optional<io::Output> saved = saved_config(o);
  tell_of_like(o, planned, progress);
  if (o.dry_run) {
    if (saved) saved->write(config);
    return show_plan(o, plan, *reader, files, progress, planned);
  }
  if (!growing)
    warn_of_repeated_view(*reader, o.scan, axes.empty() ? std::vector{plan.axis_in_file} : axes, progress);
  planned["source"] = source_json(o.common, o.scan.path);
  planned["input"] = o.scan.path;
  if (page) page->tell_plan(planned, o.output);
  json recipe = planned;
  recipe["config"] = config;
  const io::Continuation continuation{o.resume, identity_of(o.common, sources_of(o), config, planned)};
  auto writer = io::create_volume(o.output, plan.grid.shape(), files.format, text_of(recipe),
                                  o.common.replace(), continuation);
  if (o.is_part_of_hdf5()) io::require_part_free(o.part_of, *o.recipe.region_z);
  const std::vector<Range> done = writer->done();
  if (o.resume) tell_of_done(done, progress);
  std::optional<io::Output> preview;
  if (!o.preview.empty()) preview.emplace(o.preview, o.common.replace());
  pipeline::Options options{[&](const pipeline::Stage& at) {
                              progress(at.name, at.done, at.total,
                                       growing && at.name != "write" ? "views" : "slices", at.detail);
                            },
                            o.truth, !o.preview.empty(), o.scan.how.allow_external_files};
  const RunForecast ahead(plan, reader->info(), files, done);
  if (page) page->watch(options, growing ? json() : ahead.planned());
  if (const std::string lack = ahead.lack_of_disk(); !lack.empty()) progress.warn(lack);
  pipeline::Outcome outcome =
      growing ? pipeline::follow(*growing, plan, *writer, options, patience_of(o, progress))
              : pipeline::reconstruct(*reader, plan, *writer, options);
  for (const std::string& warning : outcome.warnings) progress.warn(warning);
  planned["output"] = o.output;
  json report = report_of(planned, plan, outcome);
  report["warnings"] = progress.warnings();
  if (outcome.followed) report["followed"] = followed_json(*outcome.followed);
  report["resumed"] = json::array();
  for (const Range slices : done) report["resumed"].push_back({slices.first, slices.last});
  if (!growing) report["forecast"] = ahead.planned();
  if (!growing) report["stations"] = ahead.stations(outcome);
  {
    const pipeline::Stopwatch watch("finish", outcome.seconds.finish);
    writer->finish(text_of(report));
  }
  if (growing) {
    report["followed"] = followed_json(*outcome.followed);  // now with the time of writing
  } else {
    report["stations"] = ahead.stations(outcome);
    ahead.learn(outcome);
  }
  std::string missing;
  if (o.is_part_of_hdf5()) missing = io::join_parts(o.part_of, o.common.replace());
  if (!missing.empty()) progress.note("note: " + o.part_of + " is incomplete: it lacks " + missing);
  if (saved) saved->write(config);
  if (preview) write_preview(std::move(*preview), outcome.middle, plan);
  progress.clear();
  write_report(o.common, report);
  if (o.common.json != "-") print_outcome(plan, reader->info(), outcome, o.output, ahead);
}

}  // namespace

void add_recon(CLI::App& program, Action& chosen) {
  auto o = std::make_shared<ReconOptions>();
  CLI::App& c = *program.add_subcommand("recon", "Scan to volume");
  add_recon_options(c, *o);
  c.callback([o, &chosen] {
    chosen = [runs = options_by_scan(*o)] {
      const auto run = [](ReconOptions& one) {
        check_before(one);
        with_page(one.dry_run ? std::nullopt : one.serve, [&](LivePage* page) { run_recon(one, page); });
      };
      runs.size() == 1 ? run(*runs.front()) : run_all(runs, run);
    };
  });
}

}  // namespace tandem::apps
