#pragma once

#include <cstdint>
#include <vector>

#include "../hierarchical.hpp"

namespace tandem::kernels::cpu {

/// The samples that places along a line read, and their weights.
struct TapsAt {
  Index count = 0, stride = 0;        ///< places; and in whole vectors
  std::vector<std::int32_t> first{};  ///< sample of each place
  std::vector<float> weights{};       ///< [tap][place]
  float weight(int tap, Index place) const { return weights[tap * stride + place]; }
};

/// Finds what the columns of a parent's plane read of a child along u. The child's columns count from
/// `origin`. The weights of a view have its factor.
void find_across(const HierarchicalViews& n, const FrameTurn& turn, bool is_view, const DisparityPlane& plane,
                 Index origin, TapsAt& at);
/// Finds the planes that some columns of a child read along t, at the parent's t.
void find_along(const HierarchicalViews& n, const FrameTurn& turn, const ViewGroup& child, double t,
                Range columns, TapsAt& at);

/// Columns of numbers side by side.
struct Columns {
  float* data;
  Index stride;
};
struct ConstColumns {
  const float* data;
  Index stride;
  ConstColumns(const float* d, Index s) : data(d), stride(s) {}
  ConstColumns(const Columns& c) : data(c.data), stride(c.stride) {}
};

/// to[column] += the taps of `from`, in `rows` rows; spread_columns is the transpose: from[...] +=
/// to[column].
void mix_columns(const TapsAt& at, int taps, Index rows, ConstColumns from, Columns to);
void spread_columns(const TapsAt& at, int taps, Index rows, ConstColumns to, Columns from);

/// The same where the taps of a column stand in planes, at the same column.
void mix_planes(const TapsAt& at, int taps, Index rows, const std::vector<ConstColumns>& planes, Columns to);
void spread_planes(const TapsAt& at, int taps, Index rows, ConstColumns to,
                   const std::vector<Columns>& planes);

/// to[i] += the taps at rows.at(i) of `count` numbers, beyond which there are zeros; and the transpose.
void resample(const Taps& taps, Line rows, const float* from, Index count, float* to, Index many);
void spread_samples(const Taps& taps, Line rows, float* from, Index count, const float* to, Index many);

}  // namespace tandem::kernels::cpu
