#include "sirt.hpp"

#include <cmath>

#include "../operators/norms.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Sirt::Sirt(LinearOperator A, Data b, Array x0, SirtOptions options)
    : ResidualSolver(std::move(A), std::move(b.own), std::move(x0)),
      options_(std::move(options)),
      row_weight_(inverse_sums(row_sums(A_), stream_)),
      column_weight_(inverse_sums(column_sums(A_), stream_)),
      update_(A_.domain(), stream_) {
  require_relaxation(options_.relaxation, "Sirt");
  clamp(x_, options_.bounds, stream_);
  update_residual();
  falls_.assign(residual_norms_.size(), INFINITY);
}

void Sirt::step(const ActiveBlocks& active) {
  multiply(row_weight_, r_, stream_);            // R r
  A_.apply_adjoint(1, r_, 0, update_, stream_);  // At R r
  multiply(column_weight_, update_, stream_);    // C At R r
  axpby(of_active(active, options_.relaxation, 0), update_, 1, x_, stream_);
  clamp(x_, options_.bounds, stream_);
  note(active);
}

/// Updates the residual and what rules read.
void Sirt::note(const ActiveBlocks& active) {
  const std::vector<double> before = residual_norms_;
  update_residual();
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k])
      falls_[k] = (before[k] - residual_norms_[k]) * (before[k] + residual_norms_[k]) / options_.relaxation;
}

std::vector<double> Sirt::traces() {
  Array signs(r_.space(), stream_);
  fill_with_signs(signs, 1, stream_);
  axpby(1, signs, 0, r_, stream_);
  multiply(row_weight_, r_, stream_);
  A_.apply_adjoint(1, r_, 0, update_, stream_);
  multiply(column_weight_, update_, stream_);
  A_.apply(1, update_, 0, r_, stream_);
  std::vector<double> traces = dot(signs, r_, stream_);
  update_residual();  // r was the scratch
  return traces;
}

SolverKind sirt_kind() {
  return kind_of<Sirt>(
      {.name = "sirt",
       .class_name = "Sirt",
       .help = "weighted gradient steps; many of them, voxels kept above zero if asked",
       .docs = "x <- P(x + relaxation C At R (b - Ax)), with R = 1/(A 1) and C = 1/(At 1); P clamps into the "
               "bounds. data_weights: w in C At w R (b - Ax), with C = 1/(At w).",
       .options = {"relaxation", "nonnegative", "bounds"},
       .numbers = {{"relaxation", 1}},
       .brings = {{"relaxation", "in (0, 2)", 1e-6, 2 - 1e-6}},
       .data_weights = DataWeights::by_rows,
       .pair = NeededPair::nearly_matched,
       .iterations = 200,
       .make = [](SolverInput input) {
         return made<Sirt>(input, SirtOptions{input.numbers["relaxation"], input.bounds});
       }});
}

}  // namespace tandem
