#include "landweber.hpp"

#include <cmath>

#include "../operators/norms.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Landweber::Landweber(LinearOperator A, Data b, Array x0, SirtOptions options)
    : ResidualSolver(std::move(A), std::move(b.own), std::move(x0)),
      options_(std::move(options)),
      update_(A_.domain()) {
  require_relaxation(options_.relaxation, "Landweber");
  for (const double norm : block_norms(A_, update_, r_, stream_))
    steps_.push_back(norm > 0 ? options_.relaxation / (norm * norm) : 0);
  clamp(x_, options_.bounds, stream_);
  update_residual();
  falls_.assign(residual_norms_.size(), INFINITY);
}

void Landweber::step(const ActiveBlocks& active) {
  A_.apply_adjoint(1, r_, 0, update_, stream_);
  axpby(of_active(active, steps_, 0), update_, 1, x_, stream_);
  clamp(x_, options_.bounds, stream_);
  note(active);
}

/// Updates the residual and what rules read.
void Landweber::note(const ActiveBlocks& active) {
  const std::vector<double> before = residual_norms_;
  update_residual();
  for (std::size_t k = 0; k < active.size(); ++k) {
    if (!active[k]) continue;
    const double fall = (before[k] - residual_norms_[k]) * (before[k] + residual_norms_[k]);
    falls_[k] = steps_[k] > 0 ? fall / steps_[k] : 0;
  }
}

std::vector<double> Landweber::traces() {
  fill_with_signs(r_, 1, stream_);
  A_.apply_adjoint(1, r_, 0, update_, stream_);
  std::vector<double> traces = dot(update_, update_, stream_);
  update_residual();  // r was the scratch
  return traces;
}

SolverKind landweber_kind() {
  return kind_of<Landweber>(
      {.class_name = "Landweber",
       .docs =
           "x <- P(x + relaxation / |A|^2 At (b - Ax)), where each block has its own norm |A|, and P clamps "
           "into the bounds. data_weights: w in At w (b - Ax), where |A|^2 is that of At w A.",
       .options = {"relaxation", "bounds"},
       .numbers = {{"relaxation", 1}},
       .make = [](SolverInput input) {
         return made<Landweber>(input, SirtOptions{input.numbers["relaxation"], input.bounds});
       }});
}

}  // namespace tandem
