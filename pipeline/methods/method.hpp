#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../../counts/preprocess.hpp"
#include "../../solvers/solver.hpp"
#include "../../solvers/solver_kind.hpp"
#include "../plan/problem.hpp"
#include "../plan/recipe.hpp"

namespace tandem::pipeline {

struct Outcome;
struct Work;

/// The numbers of vectors that exist at the same time, with data and result, and the kernels that run beside
/// them.
struct Holding {
  int volumes, projections;
  bool projects, back_projects;
};

/// A method at work on one worker. It gets the chunks of one reconstruction one after the other, and returns
/// the volume of some slices, on any device.
using Computation = std::function<Array(const Problem& problem, LineIntegrals data, Range slices)>;

/// A way from line integrals to a volume. All that programs and plans know about a method stands here.
struct Method {
  std::string_view name;
  std::string_view name_for_cones = {};  ///< other name for a cone beam, if it has one
  std::string_view help;                 ///< a few words
  SolverKind kind = {};                  ///< kind of its solver; nothing but defaults if there is none
  bool filters = false;                  ///< whether line integrals go through the ramp filter
  bool takes_whole = true;          ///< whether it takes all slices of a cone beam at once; else slab by slab
  bool needs_matched_pair = true;   ///< whether the back-projection must be the transpose of A
  bool weighs_data = false;         ///< whether data are weighted by their photons, if these are known
  Initial initial = Initial::zero;  ///< default of a method that iterates
  /// The number of subsets of the views. Null if the method takes all views at once. Subsets need a projector
  /// that has parts.
  std::function<Index(const Recipe& options, Index views)> subsets = {};
  std::vector<Holding> holds = {};  ///< memory in each phase; the search comes first, if there is one

  /// Makes the solver of a method that iterates; null for the others.
  std::function<AnySolver(Equations equations, Array x0, const Recipe& options)> solver = {};
  Computation (*begin)(Work& work) = nullptr;
  /// Whether options are chosen only after a run of the method on some slices (`look_ahead`); null: never.
  bool (*is_open)(const Recipe& options) = nullptr;
  /// Completes such options from what was found in these slices.
  void (*settle)(const Outcome& found, Recipe& options) = nullptr;
  /// Called after the last chunk, to find what only all chunks together tell; may be null. @throws
  /// GeometryError if the result is useless
  void (*conclude)(const Plan& plan, Outcome& outcome) = nullptr;

  bool iterates() const { return solver != nullptr; }
  bool reads(std::string_view option) const {  // a support is a kind of bounds
    return kind.reads(option == "support" || option == "shell" ? "bounds" : option);
  }
  /// The bounds of all voxels that the options ask for. @throws GeometryError if the method has no such ones
  Bounds bounds(const Recipe& asked) const;
  int iterations_with(Index parts) const;  ///< default for this number of subsets
  /// Applications of the projector to all views, before the first step and in each step: `kind.cost`, and
  /// what options add. Not counted are the initial volume, gaps and curves.
  Applications preparation_with(const Recipe& asked) const;
  Applications step_with(const Recipe& asked) const;
  /// The memory in each phase: `holds`, and what options add.
  std::vector<Holding> holds_with(const Recipe& asked) const;
};

/// The computation that runs the solver of the plan's method: initial volume, stopping rules, progress and
/// counts.
Computation iteration(Work& work);
/// Puts together what the solvers did on all slices, and warns of slices within the noise.
void conclude_iterations(const Plan& plan, Outcome& outcome);

/// The method of a solver with a regulariser, which looks for its weight on some slices unless it is given,
/// weighs data by their photons, and begins with FBP.
Method with_search(Method method);

/// The method that runs solvers of a kind, with all that the kind says about itself.
Method method_of(const SolverKind& kind);

/// Completes the options of the job's solver that depend on the scan: the number of subsets of its views.
/// @throws GeometryError if this number is not possible, or if the solver does not tell what its stopping
/// rule needs
void choose_solver_options(Job& job);

/// All methods. The first one is the default of `recon`.
std::span<const Method> methods();
/// The method with this name, which may be either of its names. @throws GeometryError if no method has it
const Method& method_named(std::string_view name);

}  // namespace tandem::pipeline
