#include "mlem.hpp"

#include "../operators/norms.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "em_step.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Mlem::Mlem(LinearOperator A, Data b, Array x0)
    : SolverBase(std::move(A), std::move(x0)),
      b_(std::move(b.own)),
      projected_(A_.range(), stream_),
      rest_(A_.range(), stream_),
      update_(A_.domain(), stream_),
      sums_(A_.domain(), stream_) {
  fill(projected_, 1, stream_);
  A_.apply_adjoint(1, projected_, 0, sums_, stream_);
  least_ = least_sums(sums_, stream_);
  require_none_negative(b_, rest_, "Mlem: data", stream_);
  clamp_below(x_, 0, stream_);
  fill_empty_blocks({x_, update_, projected_, b_, sums_, least_, {}}, stream_);
  project();
}

void Mlem::project() {
  A_.apply(1, x_, 0, projected_, stream_);
  axpby(1, b_, 0, rest_, stream_);
  axpby(-1, projected_, 1, rest_, stream_);
  residual_norms_ = norm(rest_, stream_);
}

void Mlem::step(const ActiveBlocks& active) {
  const std::vector<float> take = of_active(active, 1, 0);
  axpby(1, b_, 0, rest_, stream_);
  em_step(A_, {x_, update_, projected_, rest_, sums_, least_, take}, stream_);
  project();
}

SolverKind mlem_kind() {
  return kind_of<Mlem>(
      {.name = "mlem",
       .class_name = "Mlem",
       .help = "maximum likelihood by expectation maximisation; voxels stay above zero",
       .docs = "x <- x At(b / Ax) / At1, for b that are counts whose means are Ax. All voxels stay "
               "at 0 or above. data_weights: w of each datum's log likelihood.",
       .data_weights = DataWeights::by_rows,
       .pair = NeededPair::nearly_matched,
       .only_positive = true,
       .updates = 30,
       .make = [](SolverInput input) { return made<Mlem>(input); }});
}

}  // namespace tandem
