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
#include "portions.hpp"

namespace tandem::pipeline {

namespace {

std::string floor_words(const Findings& met) {
  std::ostringstream text;
  text << "the floor before the logarithm, " << met.floor.lowest;
  if (met.floor.highest > met.floor.lowest) text << " to " << met.floor.highest;
  return text.str();
}

/// Removes the findings in the reference, which are the same for all blocks of views.
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

PrepareStation::PrepareStation(const io::ScanInfo& info, const Plan& plan) : plan_(plan) {
  require_reference(info, plan.job.preprocessing, plan.job.options.stop_by_discrepancy);
  for (const Worker& worker : plan.flow.workers) of_large_chunks_.try_emplace(worker.device);
}

std::optional<LineIntegrals> PrepareStation::operator()(Chunk& chunk, ReadStation& read, Work& work) {
  if (!chunk.is_met) return {};
  const Scan scan = scan_of(plan_, chunk.slices);
  Findings found;
  const auto task = [&]() -> Task {
    return {*chunk.reference, scan, 1.0 * chunk.slices.size(), work, found};
  };
  std::optional<LineIntegrals> data;
  if (!chunk.reference) {
    const std::vector<GpuFrames> counts = read.on_gpus(chunk, projection_space(scan, work.device()), work);
    const std::lock_guard one_at_a_time(of_large_chunks_.at(work.device()));
    data = on_gpus(counts, task());
    if (!data) read.read_counts(chunk), data = on_cpu(chunk.counts, task());
  } else {
    data = line_integrals(chunk.counts, task());
  }
  chunk.reference.reset();
  chunk.read.reset();
  add(found);
  look_at(data->y, rows_of(plan_, chunk.slices));
  return data;
}

std::optional<LineIntegrals> PrepareStation::of_own_views(Chunk& chunk, const Space& projections,
                                                          ReadStation& read, Work& work) {
  if (!chunk.is_met) return {};
  const double all = chunk.slices.size();
  const auto make = [&](Range rows) {
    const Detector& d = detector_of(plan_.job.scan);
    const Scan scan = crop(plan_.job.scan, {0, plan_.job.views.size()}, rows, {0, d.bins});
    const double of_slices = all * rows.size() / d.rows;
    read.read_rows(rows, of_slices, chunk);
    Findings found;
    LineIntegrals made = line_integrals(chunk.counts, {*chunk.reference, scan, of_slices, work, found});
    add(found);
    look_at(made.y, rows);
    made.y = work.moved_to(Device::cpu(), std::move(made.y));
    return made;
  };
  LineIntegrals own = own_views(plan_.flow.together, plan_.job.scan, plan_.flow.rows_prepared,
                                plan_.job.preprocessing.weights, projections, make);
  chunk.reference.reset();
  chunk.read.reset();
  return own;
}

Array PrepareStation::block(const io::FramesView& counts, const Reference& reference, const Scan& views,
                            double of_slices, bool first, Work& work) {
  Findings found;
  Array y = line_integrals(counts, {reference, views, of_slices, work, found}).y;
  if (!first) leave_out_reference(found);
  add(found);
  return y;
}

void PrepareStation::make_all(const Chunk& chunk, ReadStation& read, Work& work) {
  const std::lock_guard lock(making_);
  if (all_) return;
  const double slices = plan_.job.grid.size[2];
  io::Frames memory;
  const io::FramesView counts = read.views(chunk.slices, {0, plan_.job.views.size()}, slices, memory);
  Reference reference = *chunk.reference;
  reference.counted.reset();  // all rows are here
  Findings found;
  const Stopwatch watch("preprocess", work.outcome.seconds.preprocess, work.watch.board(),
                        {.slices = slices});
  work.tell("preprocess", 0);
  all_ = preprocess(counts, reference, plan_.job.preprocessing, projection_space(plan_.job.scan), found).y;
  add(found);
  look_at(*all_, {0, detector_of(plan_.job.scan).rows});
}

Array PrepareStation::some_of_all(Range views, const Space& space, Work& work) const {
  const Stopwatch watch("transfer", work.outcome.seconds.transfer,
                        space.device().is_cuda() ? work.watch.board() : nullptr,
                        {.bytes = 4.0 * space.size()});
  Stream& stream = default_stream(space.device());
  Array some(space, stream);
  const Index view = all_->size() / plan_.job.views.size();
  copy(ConstVectorView(all_->data() + views.first * view, space.on(Device::cpu())), some, stream);
  return some;
}

LineIntegrals PrepareStation::line_integrals(const io::FramesView& counts, const Task& task) const {
  Work& work = task.work;
  if (work.device().is_cuda() && gpus_prepare(plan_.job, plan_.flow) &&
      gpu_prepares(counts, plan_.job.preprocessing))
    if (auto y = on_gpus(work.moved_to_gpus(counts, projection_space(task.scan, work.device())), task))
      return std::move(*y);
  return on_cpu(counts, task);
}

/// The line integrals of a task on GPUs; empty if the CPU has to make them.
std::optional<LineIntegrals> PrepareStation::on_gpus(const std::vector<GpuFrames>& counts,
                                                     const Task& task) const {
  const Space space = projection_space(task.scan, task.work.device());
  const Stopwatch watch("preprocess", task.work.outcome.seconds.preprocess, task.work.watch.board(),
                        {.slices = task.of_slices, .bytes = 4.0 * space.size()});
  task.work.tell("preprocess", 0);
  std::optional<LineIntegrals> made = by_gpus(counts, task);
  if (!made) task.work.outcome.left_to_cpu += task.of_slices;
  return made;
}

LineIntegrals PrepareStation::on_cpu(const io::FramesView& counts, const Task& task) const {
  const Space space = projection_space(task.scan);
  const Stopwatch watch("preprocess", task.work.outcome.seconds.preprocess, task.work.watch.board(),
                        {.slices = task.of_slices, .bytes = 4.0 * space.size()});
  task.work.tell("preprocess", 0);
  Preprocessing how = plan_.job.preprocessing;
  how.keeps_variances = !plan_.flow.together.is_alone();  // weights follow from the data of all ranks
  return preprocess(counts, task.reference, how, space, task.found, bins_kept(task.scan, plan_.job.solved));
}

/// The line integrals of a task, of which each GPU makes those of its own counts. Empty if the CPU has to
/// make all.
std::optional<LineIntegrals> PrepareStation::by_gpus(const std::vector<GpuFrames>& counts,
                                                     const Task& task) const {
  const Space space = projection_space(task.scan, task.work.device());
  const std::vector<Range> counted = bins_kept(task.scan, plan_.job.solved);
  std::vector<std::optional<LineIntegrals>> made(counts.size());
  std::vector<Findings> found_by(counts.size());
  on_members(space.device(), [&](int member) {
    const std::size_t k = member;
    made[k] = preprocess_on_gpu(counts[k], task.reference, plan_.job.preprocessing, space.share(member),
                                found_by[k], counted);
  });
  if (std::ranges::any_of(made, [](const auto& some) { return !some; })) return {};
  for (std::size_t k = 0; k < made.size(); ++k) {
    if (k > 0) leave_out_reference(found_by[k]);
    task.found.add(found_by[k]);
  }
  if (made.size() == 1) return std::move(made.front());
  return of_all_views(space, std::move(made));
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
  const double percent = option::most_floored.of(plan_.job.preprocessing.values).value_or(1);
  require<FileError>(floored <= 0.01 * percent * selected / binned, "projections: at least ", floored, " of ",
                     selected / binned, " transmissions are below ", floor_words(met), ", more than ",
                     percent,
                     " %; check " + spelled("flats") + " and " + spelled("darks") + ", or give " +
                         spelled("minus-log") + " true:floored=PERCENT");
}

void PrepareStation::add_ranks(const Comm& ranks, Outcome& outcome) {
  if (ranks.is_alone()) return;
  pipeline::add_ranks(ranks, outcome, findings_, ends_);
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
  const auto method = plan_.job.method->iterates()                            ? OpenEnds::Method::solves
                      : plan_.job.options.fbp_filter.padding != Padding::none ? OpenEnds::Method::continues
                                                                              : OpenEnds::Method::cuts;
  const bool logs = plan_.job.preprocessing.keeps_transmissions ||
                    std::ranges::any_of(findings_.steps, [](const auto& s) { return s.name == "minus-log"; });
  for (std::string text : {ends_.warning(method, cause_of_open_ends()),
                           ends_.warning_of_outer_rows(consequence_of_outer_rows(plan_.job)),
                           logs ? ends_.warning_of_dark_flats() : std::string()})
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
  if (const Index floored = findings_.replaced_by("minus-log"); floored > 0)
    warn(outcome.warnings, "projections: ", floored, " transmissions were below ", floor_words(findings_),
         ", and were raised to it");
}

}  // namespace tandem::pipeline
