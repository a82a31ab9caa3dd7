#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "../core/array.hpp"
#include "../core/public.hpp"

namespace TANDEM_PUBLIC tandem {

/// Which blocks (Space::block_count) still move. A block that has stopped keeps its solution, so that what
/// becomes of a slice does not depend on the slices beside it.
using ActiveBlocks = std::vector<bool>;

/// What a solver is: a state that can step. Loop, stopping and progress are not its business.
template <class S>
concept IterativeSolver = requires(S solver, const S seen, const ActiveBlocks& active) {
  solver.step(active);
  { seen.solution() } -> std::same_as<const Array&>;
  {
    seen.residual_norms()
    } -> std::same_as<const std::vector<double>&>;  // |b - Ax| of the solution, one a block
};

/// A solver whose residual is a polynomial p in A M At of the first one, p(0) = 1, and that can tell what
/// noise does to it. With the reach g = -p'(0), a component of eigenvalue s is fitted to the share g s at the
/// most, and all data together have taken up g trace(A M At) degrees of freedom at the most.
template <class S>
concept TellsItsReach = IterativeSolver<S> && requires(S solver, const S seen) {
  {
    seen.falls()
    } -> std::same_as<const std::vector<double>&>;           // of |b - Ax|^2, a unit of reach, one a block
  { solver.traces() } -> std::same_as<std::vector<double>>;  // of A M At, one a block
};

struct Progress {
  int iteration;                      ///< finished steps; 0 is the start
  std::span<const double> residuals;  ///< |b - Ax|, one a block
  std::span<const double> first;      ///< the same at the start
  double seconds;
  const Array& solution;
  std::span<const double> falls = {};  ///< of a solver that tells its reach
};

/// A named predicate on one block; rules join with ||, and the report tells which one held.
struct StopRule {
  std::string name;
  std::function<bool(const Progress&, std::size_t block)> holds;
  std::vector<StopRule> others{};  ///< joined ones, asked in order after this
};
StopRule operator||(StopRule a, StopRule b);
StopRule max_iterations(int count);
StopRule relative_residual(double epsilon);  ///< |b - Ax| <= epsilon |b - Ax0|
/// Morozov: |b - Ax| <= factor * noise, noise one a block.
StopRule discrepancy(std::vector<double> noise_norms, double factor = 1.0);
StopRule time_limit(double seconds);

/// Stops, after a step at least, where |b - Ax|^2 falls by no more than noise would let it: what is still
/// fitted is noise, or what the model does not explain and thus as bad, of whatever size. That is where
/// generalised cross-validation, |b - Ax|^2 / (data - t)^2, is least, for few degrees of freedom t: where one
/// more takes 2 |b - Ax|^2 / data at the most. t is counted by its bound, reach times trace, which is too
/// much by a third by then: 1.5 in the place of 2. `traces` from the solver, `data` one a block. Sources:
/// Golub, Heath, Wahba, Technometrics 21(2), 1979; Hutchinson's estimate of a trace, 1990.
StopRule stagnation(std::vector<double> traces, std::vector<Index> data);
template <TellsItsReach S>
StopRule stagnation(S& solver, std::vector<Index> data) {
  return stagnation(solver.traces(), std::move(data));
}

/// Called before each step with the present state: progress bar, file, picture, cancel by throwing.
using Observer = std::function<void(const Progress&)>;

struct Report {
  int iterations = 0;                   ///< of the block that took longest
  std::vector<int> block_iterations;    ///< one a block
  std::vector<std::string> stopped_by;  ///< the rule, one a block
  std::vector<double> residuals;        ///< |b - Ax| over all blocks, before each step and at the end
};

double seconds_now();  ///< steady clock

/// The rule that holds for a block, or an empty name.
std::string held(const StopRule& stop, const Progress& now, std::size_t block);
double joint_norm(std::span<const double> norms);

/// Steps until a rule holds for every block.
template <IterativeSolver S>
Report run(S& solver, const StopRule& stop, const Observer& observe = {}) {
  const std::vector<double> first = solver.residual_norms();
  Report report;
  report.block_iterations.assign(first.size(), 0);
  report.stopped_by.assign(first.size(), "");
  ActiveBlocks active(first.size(), true);
  const double start = seconds_now();
  for (;;) {
    const std::vector<double>& residuals = solver.residual_norms();
    report.residuals.push_back(joint_norm(residuals));
    Progress now{report.iterations, residuals, first, seconds_now() - start, solver.solution()};
    if constexpr (TellsItsReach<S>) now.falls = solver.falls();
    if (observe) observe(now);
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

}  // namespace tandem
