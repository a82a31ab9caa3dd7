#pragma once

#include <vector>

#include "../../core/array.hpp"
#include "hierarchical_passes.hpp"

namespace tandem::kernels::cpu {

/// So many zeros.
inline Array numbers(Index count) { return Array(Space({1, 1, std::max<Index>(count, 1)})); }

/// The place where a plane of a parent reads a child.
struct Crossing {
  Range columns;         ///< columns of the child
  TapsAt across, along;  ///< along u for the parent's columns; along t for the child's
};

/// Some planes of a parent and its children, whose rows threads share.
class Merge {
 public:
  Merge(const HierarchicalViews& n, const ViewGroup& parent, Range planes);
  /// Adds to `sums`, those of these planes, what the children give.
  void gather(const std::vector<Array>& turned, float* sums) const;
  /// The transpose: adds to each child its part of what these planes have.
  void scatter(float* values, std::vector<Array>& turned) const;

 private:
  const ViewGroup& child(std::size_t k) const { return n_.groups[parent_.children[k]]; }
  const DisparityPlane& plane(Index j) const { return parent_.planes[j]; }
  const Crossing& crossing(std::size_t k, Index j) const {
    return crossings_[k * planes_.size() + (j - planes_.first)];
  }
  Index blocks() const;
  Range rows_of_block(Index block, Index j) const;
  Columns column_of(Index j, Range rows, float* data) const;
  void gather(std::size_t k, Index j, Range rows, const float* from, Columns to, std::vector<float>& line,
              std::vector<ConstColumns>& planes) const;
  void scatter(std::size_t k, Index j, Range rows, ConstColumns from, float* to, std::vector<float>& line,
               std::vector<Columns>& planes) const;

  const HierarchicalViews& n_;
  const ViewGroup& parent_;
  Range planes_, rows_{};
  std::vector<Crossing> crossings_;  ///< [child][plane]
};

/// The most memory that merging some planes of a group takes, bytes.
double merge_bytes(const HierarchicalViews& n, const ViewGroup& group);

/// body(planes) for all planes of a parent, some at a time.
template <class Body>
void for_some_planes(const ViewGroup& parent, const Body& body) {
  const Index all = parent.planes.size();
  for (Index first = 0; first < all; first += planes_at_once)
    body(Range{first, std::min(first + planes_at_once, all)});
}

}  // namespace tandem::kernels::cpu
