#include "os_sirt.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../operators/norms.hpp"
#include "../operators/random.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"
#include "per_block.hpp"
#include "solver_kind.hpp"

namespace tandem {

OsSirt::OsSirt(const Subsets& A, Data b, Array x0, SirtOptions options)
    : ResidualSolver(A, A.ordered(std::move(b.own)), std::move(x0)),
      options_(std::move(options)),
      row_weight_(inverse_sums(row_sums(A_), stream_)),
      column_weight_(A_.domain(), stream_),
      update_(A_.domain(), stream_) {
  require_relaxation(options_.relaxation, "OsSirt");
  weigh_columns();
  clamp(x_, options_.bounds, stream_);
  update_residual();
  falls_.assign(residual_norms_.size(), INFINITY);
}

/// Sets the column weights to 1 / c: the inverse of the largest Bt 1 per view of a voxel in any subset.
void OsSirt::weigh_columns() {
  fill(r_, 1, stream_);
  fill(column_weight_, 0, stream_);
  std::vector<bool> negative(A_.domain().block_count(), false);
  for (std::size_t i = 0; i < A_.count(); ++i) {
    const float a_view = 1 / static_cast<float>(A_.views(i));
    A_[i].apply_adjoint(a_view, A_.part(ConstVectorView(r_), i), 0, update_, stream_);
    const std::vector<bool> here = drop_negative(update_, stream_);
    for (std::size_t k = 0; k < here.size(); ++k) negative[k] = negative[k] || here[k];
    axpby(-1, column_weight_, 1, update_, stream_);
    clamp_below(update_, 0, stream_);
    axpby(1, update_, 1, column_weight_, stream_);  // the larger one of both
  }
  column_weight_ = inverse_sums(std::move(column_weight_), stream_, std::move(negative));
}

void OsSirt::step_in(std::size_t subset, const ActiveBlocks& active) {
  const LinearOperator& A = A_[subset];
  const float step = options_.relaxation / A_.views(subset);
  const VectorView r = A_.part(VectorView(r_), subset);
  axpby(1, A_.part(ConstVectorView(b_), subset), 0, r, stream_);
  A.apply(-1, x_, 1, r, stream_);
  multiply(A_.part(ConstVectorView(row_weight_), subset), r, stream_);
  A.apply_adjoint(1, r, 0, update_, stream_);
  multiply(column_weight_, update_, stream_);
  axpby(of_active(active, step, 0), update_, 1, x_, stream_);
  clamp(x_, options_.bounds, stream_);
}

void OsSirt::step(const ActiveBlocks& active) {
  const std::vector<double> before = residual_norms_;
  for (std::size_t i = 0; i < A_.count(); ++i) step_in(i, active);
  update_residual();
  for (std::size_t k = 0; k < active.size(); ++k)
    if (active[k])
      falls_[k] = (before[k] - residual_norms_[k]) * (before[k] + residual_norms_[k]) / options_.relaxation;
}

std::vector<double> OsSirt::traces() {
  Array signs(r_.space(), stream_);
  fill_with_signs(signs, 1, stream_);
  axpby(1, signs, 0, r_, stream_);
  multiply(row_weight_, r_, stream_);
  for (std::size_t i = 0; i < A_.count(); ++i) {
    const VectorView r = A_.part(VectorView(r_), i);
    A_[i].apply_adjoint(1 / static_cast<float>(A_.views(i)), r, 0, update_, stream_);
    multiply(column_weight_, update_, stream_);
    A_[i].apply(1, update_, 0, r, stream_);
  }
  std::vector<double> traces = dot(signs, r_, stream_);
  update_residual();  // r was the scratch
  return traces;
}

SolverKind os_sirt_kind() {
  return kind_of<OsSirt>(
      {.name = "os-sirt",
       .class_name = "OsSirt",
       .help = "SIRT by subsets of the views: as many times as fast as there are subsets",
       .docs = "`Sirt` by subsets of the views; with one view a subset it is SART.",
       .options = {"relaxation", "subsets", "nonnegative", "bounds"},
       .numbers = {{"relaxation", 1}},
       .data_weights = DataWeights::by_rows,
       .pair = NeededPair::nearly_matched,
       .iterations = 20,
       .subsets = [](Index views) { return std::min<Index>(10, views); },
       .make =
           [](SolverInput input) {
             return made<OsSirt>(input, SirtOptions{input.numbers["relaxation"], input.bounds});
           }});
}

/// The kind `os_sirt` with one view in each subset.
SolverKind sart_kind() {
  SolverKind kind = os_sirt_kind();
  kind.name = "sart", kind.class_name = {};
  kind.help = "os-sirt with one view a subset, and small steps";
  kind.options = {"relaxation", "nonnegative", "bounds"};
  kind.numbers = {{"relaxation", 0.1f}};
  kind.subsets = [](Index views) { return views; };
  return kind;
}

}  // namespace tandem
