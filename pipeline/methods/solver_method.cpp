#include "method.hpp"

#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/damping.hpp"
#include "variation.hpp"

namespace tandem::pipeline {

namespace {

Bounds bounds_of(const SolverKind& kind, const Recipe& options) {
  Bounds bounds = options.bounds();
  if (!kind.only_positive) return bounds;
  require<GeometryError>(options.lowest.value_or(0) == 0, spelled("bounds") + " ", options.lowest.value_or(0),
                         ": voxels of ", kind.name,
                         " are not below zero, and this is their lower bound; give 0:HIGH");
  require<GeometryError>(options.lowest_file.empty(), spelled("bounds"), " ", options.lowest_file.string(),
                         ": voxels of ", kind.name, " are not below zero; give 0:HIGH");
  bounds.lowest = 0;
  return bounds;
}

/// Levels whose stages take four fifths of the iterations.
Levels levels_of(const Recipe& options) {
  const auto [low, high] = *options.levels;
  const int a_stage = *options.iterations / (Levels::stages + 2);
  return {low, high, *options.iterations - Levels::stages * a_stage, a_stage};
}

/// The solver of a kind. Transmissions count as counts with a blank of ones, since steps depend on ratios of
/// counts only.
AnySolver solver_of(const SolverKind& kind, Equations equations, Array x0, const Recipe& options) {
  if (options.tikhonov_weight && kind.reads("tikhonov-weight"))
    damp(equations.A, equations.y, *options.tikhonov_weight);
  SolverInput input{equations.A, std::move(equations.y), std::move(x0)};
  if (kind.subsets) input.A = equations.in_subsets(options.subsets.value_or(1));
  input.sums = std::move(equations.sums);
  input.bounds = equations.bounds ? std::move(*equations.bounds) : bounds_of(kind, options);
  for (const auto& [name, number] : options.numbers)
    if (kind.reads(name)) input.numbers[name] = number;
  if (options.levels) input.levels = levels_of(options);
  if (kind.takes_blank) {
    input.blank.emplace(equations.A.range());
    fill(*input.blank, 1, default_stream(input.blank->space().device()));
  }
  if (kind.reads("tv-weight")) {
    input.regulariser = variation_of(equations.A.domain(), equations.pitch, options);
    input.weights = {options.tv_weight.value_or(0)};
    input.data_weights = std::move(equations.weights);
  }
  return kind.solver(std::move(input));
}

}  // namespace

Bounds Method::bounds(const Recipe& asked) const { return bounds_of(kind, asked); }

Method method_of(const SolverKind& kind) {
  Method method{.name = kind.name,
                .help = kind.help,
                .kind = kind,
                .needs_matched_pair = kind.pair != NeededPair::any,
                .holds = {{.volumes = kind.cost.volumes,
                           .projections = kind.cost.projections,
                           .projects = true,
                           .back_projects = true}},
                .begin = iteration,
                .conclude = conclude_iterations};
  method.solver = [&kind](Equations equations, Array x0, const Recipe& options) {
    return solver_of(kind, std::move(equations), std::move(x0), options);
  };
  if (kind.subsets)
    method.subsets = [&kind](const Recipe& options, Index views) {
      return options.subsets && kind.reads("subsets") ? *options.subsets : kind.subsets(views);
    };
  return kind.reads("tv-weight") ? with_search(std::move(method)) : method;
}

}  // namespace tandem::pipeline
