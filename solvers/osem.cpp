#include "osem.hpp"

#include <algorithm>

#include "../operators/norms.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "em_step.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

Osem::Osem(const Subsets& A, Data b, Array x0)
    : ResidualSolver(A, A.ordered(std::move(b.own)), std::move(x0)),
      projected_(A_.range(), stream_),
      update_(A_.domain(), stream_),
      sums_(A_.domain(), stream_) {
  require_none_negative(b_, r_, "Osem: data", stream_);
  clamp_below(x_, 0, stream_);
  fill(r_, 1, stream_);
  A_.apply_adjoint(1, r_, 0, sums_, stream_);
  const std::vector<float> least = least_sums(sums_, stream_);
  fill_empty_blocks({x_, update_, r_, b_, sums_, least, {}}, stream_);
  update_residual();
}

void Osem::step(const ActiveBlocks& active) {
  const std::vector<float> take = of_active(active, 1, 0);
  for (std::size_t i = 0; i < A_.count(); ++i) {
    const VectorView projected = A_.part(VectorView(projected_), i), rest = A_.part(VectorView(r_), i);
    fill(rest, 1, stream_);
    A_[i].apply_adjoint(1, rest, 0, sums_, stream_);
    const std::vector<float> least = least_sums(sums_, stream_);
    A_[i].apply(1, x_, 0, projected, stream_);
    axpby(1, A_.part(ConstVectorView(b_), i), 0, rest, stream_);
    em_step(A_[i], {x_, update_, projected, rest, sums_, least, take}, stream_);
  }
  update_residual();
}

SolverKind osem_kind() {
  return kind_of<Osem>({.name = "osem",
                        .class_name = "Osem",
                        .help = "mlem by subsets of the views: as many times as fast as there are subsets",
                        .docs = "`Mlem` by subsets of the views.",
                        .options = {"subsets"},
                        .data_weights = DataWeights::by_rows,
                        .pair = NeededPair::nearly_matched,
                        .only_positive = true,
                        .updates = 30,
                        // with more subsets, it may not stop in time
                        .subsets = [](Index views) { return std::min<Index>(4, views); },
                        .make = [](SolverInput input) { return made<Osem>(input); }});
}

}  // namespace tandem
