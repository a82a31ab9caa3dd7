#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../../counts/preprocess.hpp"
#include "../../solvers/cost.hpp"
#include "../plan/problem.hpp"
#include "../plan/recipe.hpp"
#include "any_solver.hpp"

namespace tandem::pipeline {

struct Outcome;
struct Work;

/// How many vectors exist at the same time, with data and result, and which of the two kernels runs beside
/// them.
struct Holding {
  int volumes, projections;
  bool projects, back_projects;
};

/// A method at work on one worker, on chunks of one reconstruction, which come one after the other.
/// It returns the volume of some slices, on any device.
using Computation = std::function<Array(const Problem& problem, LineIntegrals data, Range slices)>;

/// A way from line integrals to a volume. All that programs and plans know about a method stands here.
struct Method {
  std::string_view name;
  std::string_view name_for_cones = {};  ///< its other name for a cone beam, if it has one
  std::string_view help;                 ///< a few words
  std::vector<std::string_view> options =
      {};                   ///< the options that it reads, of those that not every method reads
  bool filters = false;     ///< line integrals go through the ramp filter
  bool takes_whole = true;  ///< it takes all slices of a cone beam at once; else slab by slab
  bool needs_matched_pair =
      true;  ///< it is right only if the back-projection is the transpose of the projection
  /// Nothing may be negative: data below zero count as zero, and the Fourier model is not taken, as its
  /// coefficients may be.
  bool only_positive = false;
  bool takes_transmissions = false;  ///< in the place of line integrals, so no logarithm is taken of counts
  bool weighs_data = false;          ///< data count by their photons, where these are known
  Initial initial = Initial::zero;   ///< of a method that iterates, if nobody asks for another one
  int iterations = 30;               ///< likewise
  /// The most updates of the volume, in the place of `iterations`: shared out among the subsets. If nobody
  /// asks for iterations or a rule, ncp may stop before, as the method would fit noise. 0: `iterations`
  /// counts.
  int updates = 0;
  /// Into how many subsets it deals so many views; null: it takes them all at once. Asks for a projector that
  /// has parts.
  Index (*subsets)(const MethodOptions& options, Index views) = nullptr;
  std::vector<Holding> holds = {};  ///< phase by phase
  SolverCost cost = {};             ///< for a method that iterates
  bool lists_state = false;         ///< its solver does, so that there can be check-points

  /// Makes the solver of a method that iterates; null for the others.
  AnySolver (*solver)(Equations equations, Array x0, const MethodOptions& options) = nullptr;
  Computation (*begin)(Work& work) = nullptr;
  /// Whether the options are open until some slices have been looked at, by a run of the method for these
  /// alone (`look_ahead`); null: never.
  bool (*is_open)(const MethodOptions& options) = nullptr;
  /// Completes open options from what was found in these slices.
  void (*settle)(const Outcome& found, MethodOptions& options) = nullptr;
  /// Is called after the last chunk, for what only all chunks together tell; null if there is no such thing.
  /// @throws GeometryError if the result is useless
  void (*conclude)(const Plan& plan, Outcome& outcome) = nullptr;
  bool shows_residual = false;  ///< whether its solver does, see ShowsItsResidual
  bool tells_gap = false;       ///< likewise, see TellsItsGap

  bool iterates() const { return solver != nullptr; }
  bool tells_its_reach() const { return cost.traces.together() > 0; }  ///< of its solver
  bool reads(std::string_view option) const;
  int iterations_with(Index parts) const;  ///< of so many subsets, if nobody asks for another number
  /// Applications of the projector to all views before the first step, and in each: `cost`, and what options
  /// add. Left out are the initial volume, gaps and curves.
  Applications preparation_with(const MethodOptions& asked) const;
  Applications step_with(const MethodOptions& asked) const;
  /// `holds`, and what options add.
  std::vector<Holding> holds_with(const MethodOptions& asked) const;
};

/// What a solver holds while it steps, by its own `cost`.
std::vector<Holding> while_stepping(const SolverCost& cost);

/// The computation that runs the solver of the plan's method: its start, the rules that stop it, progress and
/// counts.
Computation iteration(Work& work);
/// Puts together what solvers did on all slices, and warns of slices within the noise.
void conclude_iterations(const Plan& plan, Outcome& outcome);

/// A method that iterates, with all that its solver says of itself.
template <IterativeSolver Solver>
Method that_runs(Method method) {
  method.holds = while_stepping(Solver::cost);
  method.cost = Solver::cost;
  method.lists_state = ListsItsState<Solver>;
  method.shows_residual = ShowsItsResidual<Solver>;
  method.tells_gap = TellsItsGap<Solver>;
  method.begin = iteration;
  method.conclude = conclude_iterations;
  return method;
}

/// Completes the options of the job's solver that depend on the scan: into how many subsets its views are
/// dealt out. @throws GeometryError if there are more or fewer than can be, or if the solver does not tell
/// what the rule that stops it looks at
void choose_solver_options(Job& job);

/// All methods. The first one is the default of `recon`.
std::span<const Method> methods();
/// The method with this name, which may be either of its names. @throws GeometryError if no method has it
const Method& method_named(std::string_view name);

}  // namespace tandem::pipeline
