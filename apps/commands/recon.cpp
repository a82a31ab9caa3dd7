// tandem recon: scan to volume.

#include <algorithm>
#include <iostream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/rounding.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../io/volumes/volume_parts.hpp"
#include "../../options/recipe.hpp"
#include "../../pipeline/checkpoints.hpp"
#include "../../pipeline/methods/voxel_bounds.hpp"
#include "../../pipeline/plan/chunks_due.hpp"
#include "../../pipeline/plan/grids.hpp"
#include "../../pipeline/ranks.hpp"
#include "../../pipeline/reconstruct.hpp"
#include "../../pipeline/watch/stopwatch.hpp"
#include "../../pipeline/watch/truth.hpp"
#include "../command.hpp"
#include "../look/sweep.hpp"
#include "../options/recon_options.hpp"
#include "../options/recon_recipe.hpp"
#include "../options/scan_options.hpp"
#include "../pages/live_page.hpp"
#include "../pages/preview.hpp"
#include "../reports/forecast.hpp"
#include "../reports/hardening_report.hpp"
#include "../reports/rank_traffic.hpp"
#include "../reports/recon_report.hpp"
#include "../runs/batch.hpp"
#include "../runs/files.hpp"
#include "../runs/follow.hpp"
#include "../runs/log_file.hpp"
#include "../runs/progress.hpp"
#include "../runs/ranks.hpp"
#include "../runs/recon_scan.hpp"
#include "../runs/resume.hpp"
#include "../runs/signals.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

/// Checks what can be checked before any file is opened.
void check_before(ReconOptions& o) {
  choose_devices(o);
  o.recipe.devices = devices_of_this_rank(o.recipe.devices);
  if (o.recipe.follow && o.recipe.devices.size() > 1 && !o.recipe.fewest_devices)
    throw UsageError("--follow works on one device; give --device " + o.recipe.devices.front().name());
  NamedFiles inputs = sources_of(o);
  inputs.push_back({"--truth", o.truth});
  inputs.push_back({"--like", o.scan.like});
  check_files(o.common, inputs, outputs_of(o));
}

/// Says why a run with the options of a volume may give other bits than that volume.
void tell_of_like(const ReconOptions& o, const json& planned, ProgressLine& progress) {
  if (o.scan.like.empty()) return;
  const json recipe = recipe_in(o.scan.like);
  for (const char* key : {"version", "device", "model", "variant", "precision"})
    if (const json then = recipe.value(key, json()); then != planned[key])
      progress.note("note: --like " + o.scan.like + " was made with " + key + " " + text_of(then) +
                    ", this run has " + text_of(planned[key]) + "; voxels may differ by rounding");
}

/// Says what a killed run left: slices that are done, and slices on which a solver was at work.
void tell_of_done(const std::vector<Range>& done, const std::vector<Range>& begun, ProgressLine& progress) {
  if (done.empty() && begun.empty())
    progress.note("note: --resume: no killed run left anything here; this one begins anew");
  if (!done.empty())
    progress.note("note: --resume: " + words_of(done) +
                  " are there already; what the report says of work is of the others");
  if (!begun.empty()) progress.note("note: --resume: the solver goes on with " + words_of(begun));
}

json pairs_of(const std::vector<Range>& slices) {
  json pairs = json::array();
  for (const Range some : slices) pairs.push_back({some.first, some.last});
  return pairs;
}

/// The part of a run before the first slice.
class PlannedRun {
 public:
  PlannedRun(ReconOptions& o, LivePage* page)
      : o_(o), page_(page), limit_(o.common.threads), progress_(o.common, page) {
    tell_of_ranks();
    look_at_scan();
    make_ready();
  }

  /// Shows the plan, and what it will take, for --dry-run.
  void show_plan() {
    if (saved_) saved_->write(config_);
    RunForecast ahead(plan_, reader_->info(), files_, {});
    if (!growing_) ahead.measure(*reader_, progress_);
    if (const std::string lack = ahead.lack_of_disk(); !lack.empty()) progress_.warn(lack);
    planned_["warnings"] = progress_.warnings();
    planned_["disk_bytes"] = ahead.disk_bytes();
    progress_.clear();
    if (!growing_) planned_["forecast"] = ahead.planned();
    if (!o_.common.listener) {
      std::ostream& to = o_.common.json == "-" ? std::cerr : std::cout;
      print_plan(to, plan_, reader_->info());
      if (!growing_) ahead.print(to);
    }
    write_report(o_.common, planned_);
  }

 private:
  void tell_of_ranks() {
    if (ranks_.is_alone()) return;
    const RankLines lines = say_ranks(o_.recipe.devices, thread_count());
    constexpr std::size_t most = 8;
    for (std::size_t k = 0; k < std::min(most, lines.devices.size()); ++k) progress_.note(lines.devices[k]);
    if (lines.devices.size() > most)
      progress_.note("and " + std::to_string(lines.devices.size() - most) + " ranks more, see --json");
    if (leaves_devices_open(o_.device) && !lines.shared.empty())
      progress_.warn("ranks share a GPU, " + lines.shared + "; start as many ranks as there are GPUs");
    rank_lines_ = lines.devices;
  }

  void look_at_scan() {
    growing_ = o_.recipe.follow ? wait_for_scan(o_, progress_) : nullptr;
    reader_ = growing_ ? growing_ : std::shared_ptr(open(o_.scan));
    if (!growing_) require_memory(o_, reader_->info());
    completed_ = complete_recipe(o_, *reader_, progress_);
    o_.recipe.stored_bytes = stored_bytes_of(o_);
    plan_ = make_plan(reader_->info(), o_.recipe);
    require_its_beam(o_, plan_);
    require_volumes();
    share_chunks(plan_);
  }

  /// Refuses volumes that do not fit, before any work.
  void require_volumes() const {
    const bool any_external = o_.scan.how.allow_external_files;
    if (!o_.truth.empty() && plan_.flow.shared.vectors.is_first())
      pipeline::TrueVolume(plan_.job.place(), o_.truth, any_external);
    if (plan_.job.options.initial == pipeline::Initial::file)
      pipeline::open_on_grid(plan_.job.place(), plan_.job.options.initial_file, "--initial", any_external);
    pipeline::open_bounds(plan_.job, any_external);
  }

  void make_ready() {
    tell_notes(o_, reader_->info(), progress_);
    const std::string by_cpu = pipeline::left_to_cpu(plan_.job.preprocessing);
    if (plan_.flow.home().is_cuda() && !by_cpu.empty())
      progress_.note("note: counts become line integrals on the CPU, because the GPU does not do: " + by_cpu);
    else if (plan_.flow.home().is_cuda() && !gpus_prepare(plan_.job, plan_.flow))
      progress_.note("note: counts become line integrals on the CPU, because that takes all views at once");
    for (const std::string& warning : plan_.warnings) progress_.warn(warning);
    const auto chunks = int_of(chunks_due(plan_, {}).size());
    if (chunks < plan_.flow.shared.queue.size())
      progress_.note("note: " + std::to_string(ranks_.size() - chunks) + " of " +
                     std::to_string(ranks_.size()) + " ranks have nothing to do: there are " +
                     std::to_string(chunks) + " chunks of slices");
    planned_ = plan_json(plan_, reader_->info());
    if (!ranks_.is_alone()) planned_["ranks"] = rank_lines_;
    if (completed_.metal) planned_["metal"] = metal_json(*completed_.metal);
    if (completed_.support.disc) planned_["support"] = support_json(*completed_.support.disc);
    if (completed_.support.shell) planned_["shell"] = shell_json(*completed_.support.shell);
    if (completed_.hardening.one) planned_["hardening"] = hardening_json(*completed_.hardening.one);
    if (completed_.hardening.second)
      planned_["hardening"]["second_material"] = second_json(*completed_.hardening.second);
    planned_["warnings"] = progress_.warnings();
    files_ = {o_.scan.path, o_.output.empty() ? "volume.h5" : o_.output, format_of(o_, plan_)};
    config_ = config_of(o_, plan_.job);
    if (!o_.save_config.empty()) saved_.emplace(o_.save_config, io::Content::recipe, o_.common.replace());
    tell_of_like(o_, planned_, progress_);
  }

 protected:
  const double start_ = seconds_now();
  const std::string begun_at_ = time_now();
  ReconOptions& o_;
  LivePage* page_;
  Comm ranks_ = Comm::world();
  ThreadLimit limit_;
  ProgressLine progress_;
  std::shared_ptr<io::GrowingScan> growing_;
  std::shared_ptr<io::ScanReader> reader_;
  std::vector<std::string> rank_lines_;  // devices of each rank
  pipeline::Completed completed_;
  pipeline::Plan plan_;
  json planned_;
  RunFiles files_;
  std::string config_;
  std::optional<io::Output> saved_;
};

/// One run, from scan to volume.
class Run : public PlannedRun {
 public:
  using PlannedRun::PlannedRun;

  void operator()() {
    if (o_.dry_run) return ranks_.is_first() ? show_plan() : void();
    look_ahead();
    take_outputs();
    compute();
    if (ranks_.is_first()) finish();
    ranks_.barrier();  // now the volume has its name
    if (checkpoints_) checkpoints_->finish();
    if (ranks_.is_first()) tell();
  }

 private:
  /// Finds what the method has to know about the scan before it makes the first slice.
  void look_ahead() {
    if (plan_.job.looks_ahead) find_weight();
    if (!plan_.job.options.tv_weight) return;
    config_ = config_of(o_, plan_.job);
    planned_["tv_weight"] = *plan_.job.options.tv_weight;
  }

  void find_weight() {
    const RunForecast ahead(plan_, reader_->info(), files_, {});
    const auto tell = [this, later = ahead.seconds_after_search()](const pipeline::Stage& at) {
      progress_(at.name, at.done, at.total, "slices", at.detail, later);
    };
    say_when_interrupted(
        "; the weight was being found, which no check-point keeps; --tv-weight X needs no search");
    searched_ = pipeline::look_ahead(*reader_, plan_,
                                     {.progress = tell, .any_external = o_.scan.how.allow_external_files});
    say_when_interrupted("");
  }

  pipeline::OnProgress progress() {
    return [this](const pipeline::Stage& at) {
      tell_of_checkpoints();
      at.name == "iterate" ? keep_iterations() : hear_alone();
      progress_(at.name, at.done, at.total, growing_ && at.name != "write" ? "views" : "slices", at.detail);
    };
  }

  /// Lets a step end for its check-point when a signal comes, and the last line say how to go on.
  void keep_iterations() {
    if (!checkpoints_)
      return say_when_interrupted("; with --checkpoint FILE, a run that is interrupted keeps its iterations");
    wait_for_checkpoints(!o_.common.quiet, !plan_.flow.shared.vectors.is_alone());
    if (checkpoints_->any()) say_when_interrupted("; --resume goes on from the check-point " + o_.checkpoint);
  }

  void tell_of_checkpoints() {
    if (!checkpoints_) return;
    for (const std::string& warning : checkpoints_->take_warnings()) progress_.warn(warning);
  }

  /// Opens the check-points, which decide how many slices a chunk has. Each rank has its own.
  void take_checkpoints(io::Identity identity) {
    if (o_.checkpoint.empty()) return;
    std::string file = o_.checkpoint;
    if (!ranks_.is_alone()) identity.emplace_back("the number of ranks", std::to_string(ranks_.size()));
    if (!ranks_.is_first()) file += ".rank" + std::to_string(ranks_.rank());
    const Comm& together = plan_.flow.shared.vectors;
    const auto ends = [together] { return asks_for_checkpoint(together); };
    checkpoints_.emplace(pipeline::Checkpoints::Request{file, o_.common.replace(), std::move(identity),
                                                        o_.checkpoint_every, o_.resume, ends, together});
    checkpoints_->suit(plan_.flow);
    share_chunks(plan_);
    planned_["chunk_slices"] = plan_.flow.chunk_slices;
    begun_ = checkpoints_->found();
  }

  void take_outputs() {
    if (!growing_ && ranks_.is_first())
      warn_of_repeated_view(*reader_, o_.recipe, o_.scan.how,
                            completed_.axes.empty() ? std::vector{plan_.job.axis_in_file} : completed_.axes,
                            progress_.listener());
    planned_["source"] = source_json(o_.common, o_.scan.path);
    planned_["input"] = o_.scan.path;
    for (const std::string& path : o_.scan.beside)  // scans that are joined to it
      planned_["joined"].push_back({{"input", path}, {"source", source_json(o_.common, path)}});
    const io::Identity identity = identity_of(o_.common, sources_of(o_), config_, planned_);
    require_same_plan(identity);
    take_checkpoints(identity);
    if (page_) page_->tell_plan(planned_, o_.output);
    json recipe = planned_;
    recipe["config"] = config_;
    writer_ = io::create_volume(o_.output, plan_.job.grid.shape(), files_.format, text_of(recipe),
                                o_.common.replace(), {o_.resume, !o_.checkpoint.empty(), identity, ranks_});
    if (o_.is_part_of_hdf5()) io::require_part_free(o_.part_of, *o_.recipe.region_z, files_.format.made_by);
    done_ = writer_->done();
    if (o_.resume) tell_of_done(done_, begun_, progress_);
    if (!o_.preview.empty()) preview_.emplace(o_.preview, io::Content::picture, o_.common.replace());
  }

  void compute() {
    pipeline::Options options{progress(), o_.truth, !o_.preview.empty(), o_.scan.how.allow_external_files};
    options.find_range = files_.format.range_follows;
    options.curves = of_first(ranks_, !o_.common.json.empty());
    options.checkpoints = checkpoints_ ? &*checkpoints_ : nullptr;
    ahead_.emplace(plan_, reader_->info(), files_, done_);
    if (page_) page_->watch(options, growing_ ? json() : ahead_->planned());
    if (const std::string lack = ahead_->lack_of_disk(); !lack.empty()) progress_.warn(lack);
    if (growing_)
      options.following = {growing_.get(), o_.patience,
                           [this](const std::string& text) { progress_.note(text); }};
    outcome_ = pipeline::reconstruct(*reader_, plan_, *writer_, options);
    tell_of_checkpoints();
    if (!plan_.flow.shared.vectors.is_alone()) traffic_ = rank_traffic_json(plan_.flow.shared.ranks);
    if (!ranks_.is_first()) return;
    outcome_.begin_with(searched_);
    for (const std::string& warning : outcome_.warnings) progress_.warn(warning);
    numbers_ = numbers_json(files_.format, outcome_, writer_->clipped());
    if (const std::string clipped = warning_of_clipped(numbers_, plan_); !clipped.empty())
      progress_.warn(clipped);
  }

  /// The report that is written into the volume.
  json report_in_volume() {
    planned_["output"] = o_.output;
    json report = report_of(planned_, plan_, outcome_);
    report["config"] = config_;
    report["numbers"] = numbers_;
    report["warnings"] = progress_.warnings();
    if (!plan_.flow.shared.vectors.is_alone()) report["traffic"] = traffic_;
    if (outcome_.followed) report["followed"] = followed_json(*outcome_.followed);
    report["resumed"] = pairs_of(done_);
    if (checkpoints_) report["checkpoint"] = {{"file", o_.checkpoint}, {"resumed", pairs_of(begun_)}};
    if (!growing_) report["forecast"] = ahead_->planned();
    if (!growing_) report["stations"] = ahead_->stations(outcome_);
    return report;
  }

  void finish() {
    report_ = report_in_volume();
    {
      const pipeline::Stopwatch watch("finish", outcome_.seconds.finish);
      writer_->finish(text_of(report_));
    }
    if (growing_) {
      report_["followed"] = followed_json(*outcome_.followed);  // now with the time of writing
    } else {
      report_["stations"] = ahead_->stations(outcome_);
      if (ranks_.is_alone()) ahead_->learn(outcome_);  // since rates are those of one process
    }
    report_["begun"] = begun_at_;
    report_["command_line"] = command_line();
    if (!o_.is_part_of_hdf5()) return;
    if (const std::string missing = io::join_parts(o_.part_of, o_.common.replace()); !missing.empty())
      progress_.note("note: " + o_.part_of + " is incomplete: it lacks " + missing);
  }

  void tell() {
    if (saved_) saved_->write(config_of(o_, plan_.job, outcome_.range));
    if (preview_) write_preview(std::move(*preview_), outcome_.middle, plan_);
    progress_.clear();
    const double seconds = seconds_now() - start_;
    report_["seconds"]["run"] = seconds;
    write_report(o_.common, report_);
    if (!o_.common.tells()) return;
    print_outcome(plan_, reader_->info(), outcome_, *ahead_, seconds);
    if (!plan_.flow.shared.vectors.is_alone()) print_rank_traffic(traffic_);
    print_written(plan_, o_.output, numbers_);
  }

  json numbers_, traffic_, report_;
  std::optional<io::Output> preview_;
  std::optional<pipeline::Checkpoints> checkpoints_;
  std::unique_ptr<io::VolumeWriter> writer_;
  std::vector<Range> done_, begun_;  // slices that a killed run left: done, and begun
  std::optional<RunForecast> ahead_;
  pipeline::Searched searched_;
  pipeline::Outcome outcome_;
};

void add_recon(Table& c) {
  auto o = std::make_shared<ReconOptions>();
  add_recon_options(c, *o);
  c.work = [o] {
    const auto runs = options_by_scan(*o);
    if (runs.size() > 1 && !Comm::world().is_alone())
      throw UsageError("several ranks share the work on one scan; give one");
    const auto run = [](ReconOptions& one) {
      suit_ranks(one);
      if (!one.compared.empty()) return compare_methods(one);
      if (!one.sweep.empty()) return run_sweep(one);
      check_before(one);
      with_page(one.dry_run ? std::nullopt : one.serve, [&](LivePage* page) { Run{one, page}(); });
    };
    runs.size() == 1 ? run(*runs.front()) : run_all(runs, run);
  };
}

}  // namespace

extern const Command recon_command{"recon", "Scan to volume", add_recon};

}  // namespace tandem::apps
