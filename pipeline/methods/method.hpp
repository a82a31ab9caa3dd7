#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../../solvers/cost.hpp"
#include "../preprocess.hpp"
#include "../problem.hpp"
#include "any_solver.hpp"

namespace tandem::pipeline {

struct Work;

/// Vectors that are alive at once, with data and result, and which of the two kernels runs beside them.
struct Holding {
  int volumes, projections;
  bool projects, back_projects;
};

/// A method at work on the chunks of one reconstruction, one after the other.
class Computation {
 public:
  virtual ~Computation() = default;
  /// The volume of some slices, on the CPU. Later slabs of a cone beam come without data: their rows came
  /// with the first ones.
  virtual Array volume(const Problem& problem, std::optional<LineIntegrals> data, Range slices) = 0;
  /// After the last chunk: what only all of them together tell. @throws GeometryError for a useless result
  virtual void finish() {}
};

/// A way from line integrals to a volume. All that programs and plans know of one is in here.
struct Method {
  std::string_view name;
  std::string_view name_for_cones = {};        ///< another name that it has for a cone beam, if any
  std::string_view help;                       ///< a few words
  std::vector<std::string_view> options = {};  ///< of those that not every method reads
  bool filters = false;                        ///< line integrals go through the ramp filter
  bool takes_whole = true;                     ///< all slices of a cone beam at once; else slab by slab
  bool needs_matched_pair = true;  ///< it is right only if the back-projection is the projection's transpose
  std::vector<Holding> holds;      ///< phase by phase
  SolverCost cost = {};            ///< of one that iterates

  /// Makes the solver of one that iterates; null for the others.
  AnySolver (*solver)(LinearOperator A, Array y, Array x0, const MethodOptions& options) = nullptr;
  std::unique_ptr<Computation> (*begin)(Work& work);

  bool iterates() const { return solver != nullptr; }
  bool reads(std::string_view option) const;
};

/// What a solver holds while it steps, from what it says of itself.
std::vector<Holding> while_stepping(const SolverCost& cost);

/// All methods; the first one is what `recon` does unless it is told otherwise.
std::span<const Method> methods();
/// By either of its names. @throws GeometryError for a name that no method has
const Method& method_named(std::string_view name);

}  // namespace tandem::pipeline
