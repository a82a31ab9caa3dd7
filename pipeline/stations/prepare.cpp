#include "prepare.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../core/units.hpp"
#include "../beams/row_axes.hpp"
#include "../methods/method.hpp"
#include "../plan/grids.hpp"
#include "../plan/problem.hpp"
#include "../plan/rows_beyond.hpp"
#include "../plan/warn.hpp"
#include "../watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

std::string floor_words(const Findings& met) {
  std::ostringstream text;
  text << "the floor before the logarithm, " << met.floor.lowest;
  if (met.floor.highest > met.floor.lowest) text << " to " << met.floor.highest;
  return text.str();
}

/// Removes the findings in the darks and flats, which are the same for all blocks of views.
void leave_out_reference(Findings& found) {
  found.dead = found.reference_not_finite = found.reference_replaced = 0;
}

/// Puts together the line integrals that the members of a team made, each of its views.
LineIntegrals of_all_views(const Space& space, std::vector<std::optional<LineIntegrals>> made) {
  std::vector<Array> shares;
  std::vector<double> norms(made.front()->noise_norms.size(), 0.0);
  for (auto& some : made) {
    shares.push_back(std::move(some->y));
    std::ranges::transform(norms, some->noise_norms, norms.begin(),
                           [](double a, double b) { return std::hypot(a, b); });
  }
  return {Array(space, std::move(shares)), std::move(norms)};
}

}  // namespace

PrepareStation::PrepareStation(ReadStation& read, const io::ScanInfo& info, const Plan& plan)
    : read_(read), plan_(plan), how_(plan.job.preprocessing) {
  if (plan.job.options.first.changes_lines()) hardening_ = take_hardening(how_);
  require_reference(info, plan.job.preprocessing, plan.job.options.stop_by_discrepancy);
  for (const Worker& worker : plan.flow.workers) of_large_chunks_.try_emplace(worker.device);
}

LineIntegrals PrepareStation::make(Counts counts, const Scan& scan, Range rows, Device device, Work& work) {
  Request asked = counts.asked;
  Findings found;
  const Task task{counts, scan, projection_space(scan, device), work, found};
  std::optional<LineIntegrals> made;
  std::unique_lock<std::mutex> one_at_a_time;
  if (!counts.frames.data) {
    counts = read_.get(asked, {task.space, work});
    one_at_a_time = std::unique_lock(of_large_chunks_.at(device));
    made = on_gpus(counts.on_gpus, task);
    asked.in_pieces = false, asked.reference = counts.reference;
    if (!made) counts = read_.get(asked);
  } else if (device.is_cuda() && gpus_prepare(plan_.job, plan_.flow) && gpu_prepares(counts.frames, how_)) {
    made = on_gpus(work.moved_to_gpus(counts.frames, task.space), task);
  }
  if (!made) made = on_cpu(task);
  if (plan_.job.options.first.changes_lines()) mend(made->y, scan, rows);
  if (asked.again) return *std::move(made);
  if (asked.views.first > 0) leave_out_reference(found);
  add(found);
  if (beam_) {
    const std::lock_guard lock(mutex_);
    beam_->add(asked.views, rows, made->y);
  }
  return *std::move(made);
}

const Array& PrepareStation::made_once(const std::function<Array()>& make) {
  const std::lock_guard lock(making_);
  if (!made_) made_ = make();
  return *made_;
}

/// The line integrals of a task on GPUs; empty if the CPU has to make them.
std::optional<LineIntegrals> PrepareStation::on_gpus(const std::vector<GpuFrames>& counts,
                                                     const Task& task) const {
  const double slices = task.counts.asked.of_slices;
  const Stopwatch watch("preprocess", task.work.outcome.seconds.preprocess, task.work.watch.board(),
                        {.slices = slices, .bytes = 4.0 * task.space.size()});
  task.work.tell("preprocess", 0);
  std::optional<LineIntegrals> made = by_gpus(counts, task);
  if (!made) task.work.outcome.left_to_cpu += slices;
  return made;
}

LineIntegrals PrepareStation::on_cpu(const Task& task) const {
  const Stopwatch watch("preprocess", task.work.outcome.seconds.preprocess, task.work.watch.board(),
                        {.slices = task.counts.asked.of_slices, .bytes = 4.0 * task.space.size()});
  task.work.tell("preprocess", 0);
  Preprocessing how = how_;
  how.keeps_variances = !plan_.flow.shared.vectors.is_alone();  // weights follow from the data of all ranks
  return preprocess(task.counts.frames, *task.counts.reference, how, projection_space(task.scan), task.found,
                    bins_kept(task.scan, plan_.job.solved));
}

/// Each GPU makes the line integrals of its own counts. Empty if the CPU has to make all.
std::optional<LineIntegrals> PrepareStation::by_gpus(const std::vector<GpuFrames>& counts,
                                                     const Task& task) const {
  const std::vector<Range> counted = bins_kept(task.scan, plan_.job.solved);
  std::vector<std::optional<LineIntegrals>> made(counts.size());
  std::vector<Findings> found_by(counts.size());
  on_members(task.space.device(), [&](int member) {
    const std::size_t k = member;
    made[k] = preprocess_on_gpu(counts[k], *task.counts.reference, how_, task.space.share(member),
                                found_by[k], counted);
  });
  if (std::ranges::any_of(made, [](const auto& some) { return !some; })) return {};
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (k > 0) leave_out_reference(found_by[k]);
    task.found.add(found_by[k]);
  }
  if (made.size() == 1) return std::move(made.front());
  return of_all_views(task.space, std::move(made));
}

/// Mends the line integrals of rays through metal, and then corrects beam hardening of both materials.
void PrepareStation::mend(Array& y, const Scan& scan, Range rows) const {
  const Job& job = plan_.job;
  const ToldByFirst& told = job.options.first;
  const RowsOfSlices at{(job.rows.first - told.rows.first) / job.rows_together + rows.first,
                        told.rows.together / job.rows_together};
  if (told.mend) (*told.mend)(y, scan, at);
  if (hardening_) straighten(*hardening_, y);
  if (told.dense) (*told.dense)(y, scan, at);
}

void PrepareStation::add(const Findings& found) {
  const std::lock_guard lock(mutex_);
  findings_.add(found);
  require_mostly_good();
}

void PrepareStation::look_at(const Array& y, Range rows) {
  OpenEnds ends;
  const auto [below, above] = outer_rows_matter(plan_.job);
  ends.look_at(y, plan_.job.scan, half_acquisition(plan_.job.scan),
               {below && rows.first == 0, above && rows.last == detector_of(plan_.job.scan).rows},
               plan_.job.preprocessing.keeps_transmissions);
  const std::lock_guard lock(mutex_);
  ends_.add(ends);
}

/// Refuses data if more than 1 % of the pixels are not finite, if half of the cells are dead, or if more
/// transmissions are below the floor than allowed.
void PrepareStation::require_mostly_good() const {
  const Findings& met = findings_;
  const double cells = 1.0 * plan_.job.rows.size() * plan_.job.bins.size();
  const double selected = plan_.job.views.size() * cells;
  const Index not_finite = met.replaced_by("not-finite"), floored = met.replaced_by("minus-log");
  require<FileError>(not_finite <= 0.01 * selected, "projections: ", not_finite,
                     " pixels are not finite, more than 1 % of ", selected,
                     "; repair or leave out those views");
  const double binned = plan_.job.rows_together << plan_.job.preprocessing.binning;
  require<FileError>(
      2.0 * met.dead * binned < cells, "flats: at least ", met.dead, " of ", cells / binned,
      " cells are not above their dark; check " + spelled("flats") + " and " + spelled("darks"));
  const double behind_metal = 100 * plan_.job.options.first.share_that_is_dark;
  const double percent = std::min(100.0, option::most_floored.of(how_.values).value_or(1) + behind_metal);
  require<FileError>(floored <= 0.01 * percent * selected / binned, "projections: at least ", floored, " of ",
                     selected / binned, " transmissions are below ", floor_words(met), ", more than ",
                     percent,
                     " %; check " + spelled("flats") + " and " + spelled("darks") + ", or give " +
                         spelled("minus-log") + " true:floored=PERCENT");
}

void PrepareStation::add_ranks(const Comm& ranks, Outcome& outcome) {
  if (ranks.is_alone()) return;
  pipeline::add_ranks(ranks, outcome, findings_, ends_, beam_);
  if (plan_.job.rows.size() > 0) require_mostly_good();
}

/// Says which views a half acquisition lacks. Empty if the views fill little more than half a turn, because
/// then the scan was not meant to be a half acquisition.
std::string PrepareStation::cause_of_open_ends() const {
  const std::vector<double>& angles = angles_of(plan_.job.scan);
  if (angles.empty()) return {};
  const double filled = whole_turn - widest_gap(angles, whole_turn);
  if (!is_aside(detector_of(plan_.job.scan)) || half_acquisition(plan_.job.scan) || all_round(angles) ||
      filled < 1.25 * half_turn)
    return {};
  std::ostringstream text;
  text.precision(4);
  text << "the axis lies aside, and the views leave " << in_degrees(widest_gap(angles, whole_turn))
       << " degrees of the turn open, so nothing makes up for what the nearer side does not see; a half "
          "acquisition needs views all round";
  return text.str();
}

void PrepareStation::finish(Outcome& outcome) const {
  outcome.findings = findings_;
  if (beam_) outcome.beam = beam_->diagnosis();
  const Padding padding = plan_.job.options.fbp_filter.padding;
  const auto method = plan_.job.method->iterates() ? OpenEnds::Method::solves
                      : padding == Padding::circle ? OpenEnds::Method::goes_round
                      : padding != Padding::none   ? OpenEnds::Method::continues
                                                   : OpenEnds::Method::cuts;
  const bool logs = plan_.job.preprocessing.keeps_transmissions ||
                    std::ranges::any_of(findings_.steps, [](const auto& s) { return s.name == "minus-log"; });
  for (std::string text :
       {ends_.warning(method, cause_of_open_ends()),
        ends_.warning_of_outer_rows(consequence_of_outer_rows(plan_.job)), ends_.warning_of_low_ends(logs)})
    if (!text.empty()) outcome.warnings.push_back(std::move(text));
  const double cells = 1.0 * plan_.job.rows.size() * plan_.job.bins.size() /
                       (plan_.job.rows_together << plan_.job.preprocessing.binning);
  constexpr double many = 0.1;  // share of the cells: no detector has so many dead ones
  if (const double dead = findings_.dead; dead > many * cells)
    warn(outcome.warnings, "flats: ", findings_.dead, " of ", cells, " cells (",
         std::round(100 * dead / cells),
         " %) are not above their dark, and are interpolated in all views; check " + spelled("flats") +
             " and " + spelled("darks"));
  if (findings_.reference_not_finite > 0)
    warn(outcome.warnings, "flats and darks: ", findings_.reference_not_finite,
         " pixels are not finite, and are left out of the means");
  if (const Index saturated = findings_.replaced_by("saturation"); saturated > 0)
    warn(outcome.warnings, "projections: ", saturated,
         " pixels are saturated: they had more light than they could count; expose for a shorter time, or "
         "give " +
             spelled("saturation") + " COUNTS if they are not");
  if (const Index limited = findings_.replaced_by("scatter"); limited > 0)
    warn(
        outcome.warnings, "scatter: in ", limited, " of ", cells * plan_.job.views.size(),
        " cells of all views it would be more than 90 % of the counts, and a tenth of them is left; if these "
        "are many, the columns of " +
            spelled("scatter") + " are not in the shadow, or the sample lets too little through");
  if (const Index floored = findings_.replaced_by("minus-log"); floored > 0)
    warn(outcome.warnings, "projections: ", floored, " transmissions were below ", floor_words(findings_),
         ", and were raised to it");
}

}  // namespace tandem::pipeline
