#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "../../core/comm.hpp"
#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/random.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/stopping/best_so_far.hpp"
#include "../beams/row_axes.hpp"
#include "../plan/warn.hpp"
#include "../watch/progress.hpp"
#include "../watch/stopwatch.hpp"
#include "curve_watch.hpp"
#include "method.hpp"
#include "start.hpp"
#include "state_keeper.hpp"
#include "voxel_bounds.hpp"

namespace tandem::pipeline {

namespace {

/// The norm of the noise of each block. If all slices are one problem, there is one norm.
std::vector<double> noise_of(const Problem& problem, std::vector<double> norms) {
  if (problem.A.range().block_count() == 1) return {joint_norm(norms)};
  return norms;
}

Array transmissions_of(const Array& lines) {
  Stream& stream = default_stream(lines.space().device());
  Array ones(lines.space(), stream);
  fill(ones, 1, stream);
  attenuate(lines, ones, stream);
  return ones;
}

/// The sum of the sizes of all data, and of the data below zero.
struct Clamped {
  double all = 0, below_zero = 0;
};

Clamped clamp_at_zero(Array& data) {
  Stream& stream = default_stream(data.space().device());
  const double all = total(sum_lengths(data, stream));
  clamp_below(data, 0, stream);
  return {all, all - total(sum_lengths(data, stream))};
}

std::vector<bool> diverged(const Iterated& done) {
  std::vector<bool> which;
  for (const std::string& rule : done.stopped_by) which.push_back(rule == "divergence");
  return which;
}

/// The steps of each block from the iteration in `first` on, where that is not negative.
std::vector<int> steps_from(const std::vector<double>& first, const std::vector<int>& iterations) {
  std::vector<int> steps;
  for (std::size_t k = 0; k < iterations.size(); ++k)
    steps.push_back(first[k] < 0 ? 0 : iterations[k] - static_cast<int>(first[k]));
  return steps;
}

double relative_residual_of(const Progress& now) {
  return joint_norm(now.residuals) / std::max(joint_norm(now.first), 1e-300);
}

/// Stagnation, as long as |b - Ax| is above a hundredth of `all`. Data that are fitted better have so little
/// noise that more steps do no harm, and those without noise are fitted better with each step.
StopRule by_stagnation(AnySolver& solver, const Problem& problem, std::vector<double> all) {
  constexpr double of_data = 0.01;
  StopRule rule = stagnation(solver.traces(), data_kept(problem.scan, problem.grid));
  rule.holds = [holds = rule.holds, all = std::move(all)](const Progress& now, std::size_t block) {
    return now.residuals[block] > of_data * all[block] && holds(now, block);
  };
  return rule;
}

StopRule by_noise(AnySolver& solver, const std::vector<double>& noise, const Problem& problem) {
  const StopRule rule = discrepancy(noise);
  return solver.tells_its_reach() ? rule || stagnation(solver.traces(), data_kept(problem.scan, problem.grid))
                                  : rule;
}

StopRule by_cross_validation(AnySolver& solver, const Problem& problem) {
  constexpr double against_noise = 1.4;
  return cross_validation([&solver] { return solver.degrees_of_freedom(); },
                          data_kept(problem.scan, problem.grid), against_noise);
}

class Iteration {
 public:
  explicit Iteration(Work& work)
      : work_(work),
        method_(*work.plan.job.method),
        options_(work.plan.job.options),
        start_(work),
        bounds_(work),
        live_(work.worker == 0 ? work.beside.show : OnPictures{},
              work.beside.onlooker ? work.beside.onlooker->pause : 1) {}

  Array operator()(const Problem& problem, LineIntegrals data, Range slices) {
    Array x0 = start_(problem, data.y, slices);
    const std::vector<double> noise = noise_of(problem, std::move(data.noise_norms));
    auto [equations, clamped] = taken(problem, std::move(data));
    equations.bounds = bounds_(problem, slices);
    const std::vector<double> data_norms = norm(equations.y, default_stream(work_.device()));
    std::optional<BestSoFar> best;
    if (!work_.plan.flow.pair.matched) best.emplace(problem.A.domain());
    const double all = slices.size();
    std::optional<Stopwatch> watch;  // preparation of the solver is a part of its work
    watch.emplace("iterate", work_.outcome.seconds.iterate, work_.watch.board(), Load{.slices = all});
    AnySolver solver = solver_of(problem, std::move(equations), std::move(x0), slices);
    StopRule stop = divergence(data_norms) || rules();
    if (const std::optional<StopRule> rule = rule_of_noise(solver, problem, data_norms))
      stop = (options_.only_watches ? watched(*rule) : *rule) || stop;
    stop = by_data(solver, noise, problem, std::move(stop));
    ChunkState at;
    StateKeeper* keeper = solver.state() ? work_.beside.keeper : nullptr;
    if (keeper) keeper->begin(slices, at, solver);
    const int before = at.run.report.iterations;
    CurveWatch curves(work_, slices, at.curves, live_);
    const SolverCost& cost = method_.kind.cost;
    const auto look = [&](const Progress& now) {
      const double steps = cost.preparation.together() + cost.step.together() * (now.iteration - before);
      watch->reached({.slices = share(now) * all, .updates = steps * updates_of(problem)});
      curves.look(now.iteration, solver);
      if (keeper) keeper->save(slices, at, solver);
      if (best) best->look_at(now);
      tell(now, slices);
    };
    tandem::run(solver, stop, look, at.run);
    curves.finish(at.run.report.iterations, solver);
    if (keeper) keeper->end(slices);
    count(at.run.report.iterations - before, curves.applications(), problem);
    note(std::move(at), slices);
    Iterated& done = work_.outcome.iterated.back();
    if (options_.only_watches) done.fitted_noise = steps_from(*stop.kept, done.slice_iterations);
    done.noise = joint_norm(noise);
    done.data = clamped.all, done.below_zero = clamped.below_zero;
    watch.reset();
    Array x = std::move(solver).solution();
    if (options_.levels) look_at_levels(x);
    if (best) best->replace(x, diverged(done));
    return x;
  }

 private:
  /// The equations as the method takes them, and how much was clamped for that.
  std::pair<Equations, Clamped> taken(const Problem& problem, LineIntegrals data) const {
    Equations equations = equations_of(problem, std::move(data));
    if (method_.kind.takes_blank && !work_.plan.job.preprocessing.keeps_transmissions)
      equations.y = transmissions_of(equations.y);
    const Clamped clamped = method_.kind.only_positive ? clamp_at_zero(equations.y) : Clamped{};
    return {std::move(equations), clamped};
  }

  AnySolver solver_of(const Problem& problem, Equations equations, Array x0, Range slices) {
    const auto& make = method_.solver;
    if (!options_.stop_by_gcv) return make(std::move(equations), std::move(x0), options_);
    auto [leader, follower] = Sums::leader_and_follower();
    equations.sums = std::move(leader);
    const LinearOperator A = equations.A;
    AnySolver solver = make(std::move(equations), std::move(x0), options_);
    Stream& stream = default_stream(work_.device());
    Array signs(A.range(), stream);
    fill_with_signs(signs, 1, stream);
    Array start = options_.initial == Initial::fbp ? start_(problem, signs, slices) : Array(A.domain());
    Equations of_signs{A, signs.clone(stream)};
    of_signs.bounds.emplace();  // none, since bounds are not linear
    of_signs.sums = std::move(follower);
    solver.lead(make(std::move(of_signs), std::move(start), options_), std::move(signs));
    return solver;
  }

  StopRule rules() const {
    StopRule stop = max_iterations(*options_.iterations);
    if (options_.stop_relative) stop = relative_residual(*options_.stop_relative) || stop;
    if (options_.stop_seconds)
      stop =
          as_first_rank(time_limit(std::max(0.0, *options_.stop_seconds - (seconds_now() - work_.start)))) ||
          stop;
    if (work_.beside.onlooker && work_.beside.onlooker->step) stop = by_onlooker() || stop;
    return stop;
  }

  /// All blocks end at one iteration.
  StopRule by_onlooker() const {
    struct Said {
      int iteration = -1;
      bool go_on = true;
    };
    const auto holds = [step = work_.beside.onlooker->step, said = std::make_shared<Said>()](
                           const Progress& now, std::size_t) {
      if (now.iteration != said->iteration)
        *said = {now.iteration, step(now.iteration, relative_residual_of(now))};
      return !said->go_on;
    };
    return {"stopped", holds};
  }

  /// The rule as the first rank decides it, since clocks differ and all ranks have one solver.
  StopRule as_first_rank(StopRule rule) const {
    rule.holds = [ranks = work_.plan.flow.shared.vectors, own = rule.holds](
                     const Progress& now, std::size_t block) { return of_first(ranks, own(now, block)); };
    return rule;
  }

  /// The rule that tells where noise begins to be fitted, by the residual alone.
  std::optional<StopRule> rule_of_noise(AnySolver& solver, const Problem& problem,
                                        const std::vector<double>& data_norms) const {
    // in transmissions there is only to fit what the object takes away
    if (options_.stop_by_stagnation)
      return by_stagnation(solver, problem, method_.kind.takes_blank ? solver.residual_norms() : data_norms);
    if (options_.stop_by_ncp) return white_residual();
    return {};
  }

  /// Puts the rules that look at the data before `stop`, because the report names the first rule that holds.
  StopRule by_data(AnySolver& solver, const std::vector<double>& noise, const Problem& problem,
                   StopRule stop) const {
    if (options_.stop_by_discrepancy) stop = by_noise(solver, noise, problem) || stop;
    if (options_.stop_by_gcv) stop = by_cross_validation(solver, problem) || stop;
    if (options_.stop_gap) stop = duality_gap(solver, *options_.stop_gap) || stop;
    if (options_.stop_settled) stop = settled(solver, *options_.stop_settled) || stop;
    return stop;
  }

  double share(const Progress& now) const { return 1.0 * now.iteration / std::max(1, *options_.iterations); }

  void tell(const Progress& now, Range slices) {
    const double residual = relative_residual_of(now);
    if (StationBoard* board = work_.watch.board()) board->residual(slices, now.iteration, residual);
    std::ostringstream detail;
    detail << "iteration " << now.iteration << " of " << *options_.iterations << ", "
           << words_of_residual(residual);
    work_.tell("iterate", share(now) * slices.size(), detail.str());
  }

  /// Counts what this run has computed, without what a killed run did.
  void count(int iterations, int of_curves, const Problem& problem) {
    const int of_gaps = options_.stop_gap ? 2 * (iterations / 10 + 1) : 0;
    const Applications all = method_.preparation_with(options_) + iterations * method_.step_with(options_);
    work_.count_updates(problem, all.together() + of_gaps + of_curves);
  }

  /// Voxels outside of a support, which are zero, count as the nearer level.
  void look_at_levels(const Array& volume) {
    const auto [low, high] = *options_.levels;
    Stream& stream = default_stream(volume.space().device());
    Array x(volume.space(), stream);
    axpby(1, volume, 0, x, stream);
    clamp(x, {.lowest = low, .highest = high}, stream);
    Array ones(x.space(), stream);
    fill(ones, 1, stream);
    const double lowest = low, highest = high, sum = total(dot(x, ones, stream)),
                 squares = total(dot(x, x, stream)), voxels = total(dot(ones, ones, stream));
    Iterated& done = work_.outcome.iterated.back();
    done.voxels = voxels;
    done.between =
        4 * ((lowest + highest) * sum - squares - voxels * lowest * highest) / std::pow(highest - lowest, 2);
  }

  void note(ChunkState at, Range slices) {
    Report& report = at.run.report;
    for (double& residual : report.residuals) residual *= residual;
    work_.outcome.iterated.push_back({slices, report.iterations, std::move(report.block_iterations),
                                      std::move(report.stopped_by), std::move(report.residuals),
                                      std::move(at.curves)});
  }

  Work& work_;
  const Method& method_;
  const Recipe& options_;
  Start start_;
  VoxelBounds bounds_;
  LiveView live_;
};

/// Adds the squares of a chunk. Chunks stop at different times, and a finished one keeps its last residual.
void add_squares(std::vector<double>& sums, const std::vector<double>& squares) {
  const auto at = [](const std::vector<double>& some, std::size_t i) {
    return some.empty() ? 0 : some[std::min(i, some.size() - 1)];
  };
  std::vector<double> longer(std::max(sums.size(), squares.size()));
  for (std::size_t i = 0; i < longer.size(); ++i) longer[i] = at(sums, i) + at(squares, i);
  sums = std::move(longer);
}

/// Warns of slices that were within the noise before the first step, unless they are few: these may hold air.
void look_at_starts(Outcome& all, double noise, bool given_photons) {
  std::size_t still = 0;
  for (std::size_t k = 0; k < all.stopped_by.size(); ++k)
    still += all.slice_iterations[k] == 0 && all.stopped_by[k] == "discrepancy";
  if (still == 0) return;
  require<GeometryError>(
      still < all.stopped_by.size(),
      spelled("stop") + " discrepancy: 0 iterations, because |b - Ax| = ", all.residuals.front(),
      " at the start is within the noise, ", noise, " by 1/photons; give ",
      given_photons
          ? spelled("photons") + " N, those that a cell had in air"
          : spelled("stop") + " discrepancy:gain=G (counts per photon) if the data are not counts of photons",
      ", or ", spelled("iterations"), " K without ", spelled("stop"));
  warn(all.warnings, still, " of ", all.stopped_by.size(),
       " slices are within the noise at the start, and keep their initial volume");
}

/// Warns of slices whose solver diverged with an unmatched pair, and which have their best solution. @throws
/// GeometryError with a matched pair, where that should not happen and no best solution was kept
void look_at_divergence(Outcome& all, const Plan& plan) {
  const auto count = std::count(all.stopped_by.begin(), all.stopped_by.end(), "divergence");
  if (count == 0) return;
  require<GeometryError>(
      !plan.flow.pair.matched, plan.job.method->name, ": in ", count, " of ", all.stopped_by.size(),
      " slices |b - Ax| grew beyond ten times |b|: the solver diverges, and made no volume");
  warn(all.warnings, "in ", count, " of ", all.stopped_by.size(),
       " slices |b - Ax| grew beyond ten times |b|: the solver diverged; the volume has the solution of each "
       "whose |b - Ax| was least");
}

/// Warns of voxels between the levels, which a right pair leaves at edges only.
void look_at_levels(Outcome& all, double between) {
  constexpr double many = 0.2;  // scans whose levels were right had 0.02 to 0.1
  all.between_levels = between;
  if (between > many)
    warn(
        all.warnings, "voxels are ", std::round(100 * between), " % between the ", spelled("levels"),
        ": these do not fit the object, or slices whose data fit worse with them are without them; look at a "
        "volume without ",
        spelled("levels"));
}

}  // namespace

void conclude_iterations(const Plan& plan, Outcome& outcome) {
  std::vector<Iterated>& chunks = outcome.iterated;
  std::sort(chunks.begin(), chunks.end(),
            [](const Iterated& a, const Iterated& b) { return a.slices.first < b.slices.first; });
  double noise = 0, data = 0, below_zero = 0, voxels = 0, between = 0;
  for (const Iterated& chunk : chunks) {
    outcome.iterations = std::max(outcome.iterations, chunk.iterations);
    outcome.slice_iterations.insert(outcome.slice_iterations.end(), chunk.slice_iterations.begin(),
                                    chunk.slice_iterations.end());
    outcome.stopped_by.insert(outcome.stopped_by.end(), chunk.stopped_by.begin(), chunk.stopped_by.end());
    outcome.fitted_noise.insert(outcome.fitted_noise.end(), chunk.fitted_noise.begin(),
                                chunk.fitted_noise.end());
    add_squares(outcome.residuals, chunk.squares);
    noise = std::hypot(noise, chunk.noise);
    data += chunk.data, below_zero += chunk.below_zero;
    voxels += chunk.voxels, between += chunk.between;
  }
  for (double& residual : outcome.residuals) residual = std::sqrt(residual);
  outcome.curves = curves_of(chunks);
  look_at_divergence(outcome, plan);
  if (voxels > 0) look_at_levels(outcome, between / voxels);
  if (plan.job.options.stop_by_discrepancy)
    look_at_starts(outcome, noise, plan.job.options.photons.has_value());
  if (below_zero > 0)
    warn(outcome.warnings, plan.job.method->kind.takes_blank ? "transmissions" : "line integrals",
         " below zero, which ", plan.job.method->name,
         " cannot take, count as zero: ", 100 * below_zero / data, " % of all by their size");
  if (outcome.residuals.empty() || !(outcome.residuals.front() > 0)) return;
  for (const double first = outcome.residuals.front(); double& residual : outcome.residuals)
    residual /= first;
}

Computation iteration(Work& work) {
  return [run = std::make_shared<Iteration>(work)](const Problem& problem, LineIntegrals data, Range slices) {
    return (*run)(problem, std::move(data), slices);
  };
}

}  // namespace tandem::pipeline
