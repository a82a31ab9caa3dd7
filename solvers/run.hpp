#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Which blocks (Space::block_count) still move. A block that has stopped keeps its solution, so that the
/// result for a slice does not depend on the slices beside it.
using ActiveBlocks = std::vector<bool>;

/// A solver is a state that can make a step. The loop, the stop and the progress are in `run`.
template <class S>
concept IterativeSolver = requires(S solver, const S seen, const ActiveBlocks& active) {
  solver.step(active);
  { seen.solution() } -> std::same_as<const Array&>;
  {
    seen.residual_norms()
    } -> std::same_as<const std::vector<double>&>;  // |b - Ax| of the solution, one a block
};

/// A solver whose residual is a polynomial p in A M At applied to the first residual, with p(0) = 1, and that
/// can tell what noise does to it. Let g = -p'(0) be the reach. Then a component with eigenvalue s is fitted
/// to at most the share g s, and the solution has taken up at most g trace(A M At) degrees of freedom.
template <class S>
concept TellsItsReach = IterativeSolver<S> && requires(S solver, const S seen) {
  {
    seen.falls()
    } -> std::same_as<const std::vector<double>&>;           // of |b - Ax|^2, a unit of reach, one a block
  { solver.traces() } -> std::same_as<std::vector<double>>;  // of A M At, one a block; before the first step
};

/// A solver that has the vector b - Ax of its solution at hand between steps.
template <class S>
concept ShowsItsResidual = IterativeSolver<S> && requires(const S seen) {
  { seen.residual() } -> std::same_as<const Array*>;  // in range(); null if it has none
};

/// A solver that can tell the value of what it minimises for its solution, at some cost.
template <class S>
concept TellsItsObjective = IterativeSolver<S> && requires(S solver) {
  { solver.objective() } -> std::same_as<std::vector<double>>;  // one a block
};

/// A solver that can tell how far its solution is from the least of what it minimises, at some cost.
template <class S>
concept TellsItsGap = IterativeSolver<S> && requires(S solver) {
  { solver.gaps() } -> std::same_as<std::vector<double>>;  // shares of the objective, one a block
};

struct Progress {
  int iteration;                      ///< finished steps; 0 is the start
  std::span<const double> residuals;  ///< |b - Ax|, one per block
  std::span<const double> first;      ///< the same at the start
  double seconds;
  const Array& solution;
  std::span<const double> falls = {};  ///< for a solver that tells its reach
  const Array* residual = nullptr;     ///< for a solver that shows it
};

/// A named predicate on one block. Rules are joined with ||, and the report says which one held.
struct StopRule {
  std::string name;
  std::function<bool(const Progress&, std::size_t block)> holds;
  std::vector<StopRule> others{};               ///< the joined rules, asked after this one, in order
  std::shared_ptr<std::vector<double>> kept{};  ///< what it carries from iteration to iteration; may be null
};
StopRule operator||(StopRule a, StopRule b);
StopRule max_iterations(int count);
StopRule relative_residual(double epsilon);  ///< |b - Ax| <= epsilon |b - Ax0|
/// The rule of Morozov: |b - Ax| <= factor * noise, with one noise norm per block.
StopRule discrepancy(std::vector<double> noise_norms, double factor = 1.0);
StopRule time_limit(double seconds);
/// |b - Ax| has grown beyond ten times what it was at the start, or is where x is zero, whichever is more; or
/// it is not finite. `data_norms`: |b| of each block.
StopRule divergence(std::vector<double> data_norms);

/// Stops, after at least one step, when |b - Ax|^2 falls by no more than it would by fitting noise. What is
/// still fitted is then noise, or what the model does not explain, of any size. There generalised
/// cross-validation, |b - Ax|^2 / (data - t)^2, is least for few degrees of freedom t: one more of them
/// lowers |b - Ax|^2 by at most 2 |b - Ax|^2 / data. The rule counts t by its bound, reach times trace. This
/// bound is too large by a third at the stop, so 1.5 takes the place of 2. `traces` come from the solver;
/// `data` has one number per block. Sources: Golub, Heath, Wahba, Technometrics 21(2), 1979; Hutchinson's
/// estimate of a trace, 1990.
StopRule stagnation(std::vector<double> traces, std::vector<Index> data);
template <TellsItsReach S>
StopRule stagnation(S& solver, std::vector<Index> data) {
  return stagnation(solver.traces(), std::move(data));
}

/// Stops a step after the residual has looked the most like white noise, when the distance of its lines along
/// the last axis from white noise grows for the first time (`distance_from_white`). Until then the residual
/// holds what the solution still lacks; after that it lacks what the solution has taken from the noise, at
/// low frequencies. Needs a solver that shows its residual. Sources: Hansen, Kilmer,
/// Kjeldsen, BIT 46(1), 2006; Hansen, Jorgensen, AIR Tools II, Numerical Algorithms 79(1), 2018.
StopRule white_residual();

/// Stops when what is minimised is at most epsilon of itself above the least value, as far as a dual problem
/// tells. `gaps` are asked for at every tenth step, since they cost about as much as one.
StopRule duality_gap(std::function<std::vector<double>()> gaps, double epsilon);
template <TellsItsGap S>
StopRule duality_gap(S& solver, double epsilon) {
  return duality_gap([&solver] { return solver.gaps(); }, epsilon);
}

/// Called with the present state before each step and at the end: for a progress bar, a file, a picture. It
/// cancels by throwing.
using Observer = std::function<void(const Progress&)>;

struct Report {
  int iterations = 0;                   ///< of the block that took the most
  std::vector<int> block_iterations;    ///< one per block
  std::vector<std::string> stopped_by;  ///< the name of the rule, one per block
  std::vector<double> residuals;        ///< |b - Ax| over all blocks, before each step and at the end
};

/// What `run` itself keeps from step to step. With the state of the solver it is all that another run needs
/// to go on.
struct RunState {
  std::vector<double> first{};  ///< |b - Ax| at the start, one per block; empty before the start
  Report report{};              ///< of the time before the rules are asked: `residuals` lacks the present one
  double seconds = 0;           ///< of all runs until now
  std::vector<std::vector<double>> of_rules{};  ///< of those that keep something, in order
};

double seconds_now();  ///< by a steady clock, s

/// The name of the rule that holds for a block, or an empty name.
std::string held(const StopRule& stop, const Progress& now, std::size_t block);
double joint_norm(std::span<const double> norms);
std::vector<std::vector<double>> kept_by(const StopRule& stop);  ///< and by the joined rules
/// Gives rules back what rules like them kept; if it is nothing, they forget what they had.
void keep(const StopRule& stop, const std::vector<std::vector<double>>& of_rules);

/// Makes steps until a rule holds for every block. Whenever `observe` is called, `state` is up to date: a run
/// that gets it, and a solver with the state of that moment, goes on from there. For another time than now,
/// keep copies.
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
