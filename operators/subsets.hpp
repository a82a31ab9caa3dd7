#pragma once

#include <vector>

#include "../core/public.hpp"
#include "linear_operator.hpp"

namespace TANDEM_PUBLIC tandem {

/// An operator in parts, for solvers that go through subsets of the views. Each part takes some of the views.
/// The data (view, row, bin) lie subset after subset, so that the data of one subset need no copy.
/// `view_subsets` chooses views, and a projector of `with_views` is the operator of some. A rank has some
/// views of each subset, perhaps none.
class Subsets {
 public:
  /// `views[i]`: the views of the scan in the range of `parts[i]`, in its order. @throws SpaceError unless
  /// all parts have the same domain, rows and bins, and each view is in one of the subsets
  Subsets(std::vector<LinearOperator> parts, std::vector<std::vector<Index>> views);

  std::size_t count() const { return parts_.size(); }
  const LinearOperator& operator[](std::size_t i) const { return parts_[i]; }
  Index views(std::size_t i) const { return parts_[i].range().whole().shape()[0]; }  ///< on all ranks

  Space domain() const { return parts_.front().domain(); }
  const Space& range() const { return range_; }  ///< all views, subset after subset
  /// The views of subset i, of a vector in range().
  VectorView part(VectorView whole, std::size_t i) const;
  ConstVectorView part(ConstVectorView whole, std::size_t i) const;

  /// Puts data whose views are in the order of the scan into the order of the subsets. @throws SpaceError
  /// unless views, rows and bins are as many, and the device is the same
  Array ordered(const Array& data) const;
  Array ordered(Array&& data) const;  ///< gives the memory of `data` back

  /// The same subsets with rows times weights, which are in the order of the scan.
  Subsets weighed(const Array& weights) const;

  /// Apply all subsets together, so that this is an operator too.
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const;
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const;

 private:
  Index offset(std::size_t i) const;

  std::vector<LinearOperator> parts_;
  std::vector<std::vector<Index>> views_;
  std::vector<Index> first_;  // view of each subset, among those in range()
  Space range_;
};

}  // namespace tandem
