#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/public.hpp"
#include "solver.hpp"

namespace TANDEM_PUBLIC tandem {

struct Progress {
  int iteration;                      ///< finished steps; 0 is the start
  std::span<const double> residuals;  ///< |b - Ax|, one per block
  std::span<const double> first;      ///< the same at the start
  double seconds;
  const Array& solution;
  std::span<const double> falls = {};  ///< set for a solver that tells its reach
  const Array* residual = nullptr;     ///< set for a solver that shows its residual
};

/// A named predicate on one block. Rules are joined with ||, and the report says which one held.
struct StopRule {
  std::string name;
  std::function<bool(const Progress&, std::size_t block)> holds;
  std::vector<StopRule> others{};               ///< the joined rules, asked after this one, in order
  std::shared_ptr<std::vector<double>> kept{};  ///< numbers that it keeps between iterations; may be null
};
StopRule operator||(StopRule a, StopRule b);
StopRule max_iterations(int count);
StopRule relative_residual(double epsilon);  ///< |b - Ax| <= epsilon |b - Ax0|
/// The rule of Morozov: |b - Ax| <= factor * noise, with one noise norm per block.
StopRule discrepancy(std::vector<double> noise_norms, double factor = 1.0);
StopRule time_limit(double seconds);
/// Stops when |b - Ax| is not finite, or has grown beyond ten times the larger of two values: |b - Ax| at the
/// start, and |b|. `data_norms`: |b| of each block.
StopRule divergence(std::vector<double> data_norms);

/// Stops, after at least one step, when |b - Ax|^2 falls by no more than it would by fitting noise. What a
/// solver fits then is noise, or what the model does not explain, of any size. Generalised cross-validation,
/// |b - Ax|^2 / (data - t)^2 with t degrees of freedom, has its minimum there if t is small, because one more
/// degree of freedom lowers |b - Ax|^2 by at most 2 |b - Ax|^2 / data. The rule takes for t its bound, reach
/// times trace. This bound is too large by a third at the stop, so 1.5 takes the place of 2. `traces` come
/// from the solver; `data` has one number per block. Sources: Golub, Heath, Wahba, Technometrics 21(2), 1979;
/// Hutchinson's estimate of a trace, 1990.
StopRule stagnation(std::vector<double> traces, std::vector<Index> data);
template <TellsItsReach S>
StopRule stagnation(S& solver, std::vector<Index> data) {
  return stagnation(solver.traces(), std::move(data));
}

/// Stops one step after the minimum of generalised cross-validation, |b - Ax|^2 / (data - factor t)^2, when
/// it grows for the first time. Then Ax begins to fit noise, of any size. `freedom`: t of the present
/// solution, one per block, asked once per iteration. `data` has one number per block. The definition has the
/// factor 1; a factor of 1.4 prevents a fit of noise better. Sources: Golub, Heath, Wahba, Technometrics
/// 21(2), 1979; the factor: Kim, Gu, Journal of the Royal Statistical Society B 66(2), 2004.
StopRule cross_validation(std::function<std::vector<double>()> freedom, std::vector<Index> data,
                          double factor = 1);

/// Stops one step after the residual has looked most like white noise: when the distance of its lines along
/// the last axis from white noise (`distance_from_white`) grows for the first time. Before, the residual
/// holds what the solution still lacks. Afterwards it lacks, at low frequencies, the noise that the solution
/// has taken. Needs a solver that shows its residual. Sources: Hansen, Kilmer, Kjeldsen, BIT 46(1), 2006;
/// Hansen, Jorgensen, AIR Tools II, Numerical Algorithms 79(1), 2018.
StopRule white_residual();

/// Never stops, and keeps for each block the iteration at which the rule held for the first time, or -1.
/// `kept` is set, and has no number of a block that has not been asked about.
StopRule watched(const StopRule& rule);

/// Stops when the objective is above its minimum by at most the share epsilon, by the bound of a dual
/// problem. `gaps` are asked for at every tenth step, since they cost about as much as a step.
StopRule duality_gap(std::function<std::vector<double>()> gaps, double epsilon);
template <TellsItsGap S>
StopRule duality_gap(S& solver, double epsilon) {
  return duality_gap([&solver] { return solver.gaps(); }, epsilon);
}

/// Stops when the way to the end is at most the share epsilon of the way until now. `distances`: estimates of
/// it, asked for at every fifth step.
StopRule settled(std::function<std::vector<double>()> distances, double epsilon);
template <TellsItsEnd S>
StopRule settled(S& solver, double epsilon) {
  return settled([&solver] { return solver.distances(); }, epsilon);
}

/// Called with the present state before each step and at the end: for a progress bar, a file, a picture. It
/// cancels by throwing.
using Observer = std::function<void(const Progress&)>;

struct Report {
  int iterations = 0;                   ///< the most iterations of a block
  std::vector<int> block_iterations;    ///< one per block
  std::vector<std::string> stopped_by;  ///< the name of the rule, one per block
  std::vector<double> residuals;        ///< |b - Ax| over all blocks, before each step and at the end
};

/// What `run` itself keeps from step to step. With the state of the solver it is all that another run needs
/// to go on.
struct RunState {
  std::vector<double> first{};  ///< |b - Ax| at the start, one per block; empty before the start
  Report report{};              ///< report before the rules are asked, so `residuals` lacks the present one
  double seconds = 0;           ///< seconds of all runs until now
  std::vector<std::vector<double>> of_rules{};  ///< numbers of rules that keep some, in order
};

double seconds_now();  ///< seconds of a steady clock

/// The name of the rule that holds for a block, or an empty name.
std::string held(const StopRule& stop, const Progress& now, std::size_t block);
double joint_norm(std::span<const double> norms);
std::vector<std::vector<double>> kept_by(const StopRule& stop);  ///< also by the joined rules
/// Gives rules back what the same rules kept in another run. If that is nothing, they forget what they had.
void keep(const StopRule& stop, const std::vector<std::vector<double>>& of_rules);

/// Makes steps until a rule holds for every block. Whenever `observe` is called, `state` is up to date.
/// Another run with this `state`, and with a solver in its state of that moment, goes on from there. Keep
/// copies to go on later.
template <IterativeSolver S>
Report run(S& solver, const StopRule& stop, const Observer& observe, RunState& state) {
  Report& report = state.report;
  if (state.first.empty()) {
    state.first = solver.residual_norms();
    report.block_iterations.assign(state.first.size(), 0);
    report.stopped_by.assign(state.first.size(), "");
  }
  keep(stop, state.of_rules);
  const std::vector<double>& first = state.first;
  ActiveBlocks active(first.size());
  for (std::size_t block = 0; block < first.size(); ++block) active[block] = report.stopped_by[block].empty();
  const double start = seconds_now() - state.seconds;
  for (;;) {
    const std::vector<double>& residuals = solver.residual_norms();
    state.seconds = seconds_now() - start;
    Progress now{report.iterations, residuals, first, state.seconds, solver.solution()};
    if constexpr (TellsItsReach<S>) now.falls = solver.falls();
    if constexpr (ShowsItsResidual<S>) now.residual = solver.residual();
    state.of_rules = kept_by(stop);
    if (observe) observe(now);
    report.residuals.push_back(joint_norm(residuals));
    bool moving = false;
    for (std::size_t block = 0; block < first.size(); ++block) {
      if (!active[block]) continue;
      report.stopped_by[block] = held(stop, now, block);
      active[block] = report.stopped_by[block].empty();
      report.block_iterations[block] = report.iterations;
      moving = moving || active[block];
    }
    if (!moving) return report;
    solver.step(active);
    ++report.iterations;
  }
}
template <IterativeSolver S>
Report run(S& solver, const StopRule& stop, const Observer& observe = {}) {
  RunState state;
  return run(solver, stop, observe, state);
}

}  // namespace tandem
