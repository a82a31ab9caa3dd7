// The hierarchical pair on a GPU (docs/kernels/hierarchical.md; the idea is that of Xiao, Bresler and Munson
// 2003, and George and Bresler 2007). A group of views is a stack of planes t = const of (column u, row v).
// Its children are read at (u', t', v'), by taps w along each axis (formulas in kernels/hierarchical.hpp):
//
//   group(t, u, v) = sum over children of sum over i, j, k of w_i(u') w_j(t') w_k(v') child(t_j, u_i, v_k)
//
// where t' is that of column u_i, and v' that of u_i and t_j. Weights of a view along u have its factor
// (`ViewWeight`). The back-projection, `back`, goes depth first:
//
//   for each quarter of the circle, whose planes are lines of voxels along x or y:
//     for each group of the quarter:
//       for each view:  cells, times the slant, as columns of rows                             views.cu
//         turned(t, u, v) = sum over k of w_k(v') view(u, v_k), for some t        turn_rows in rows.cu
//       gather_views.cu: a block has 8 planes, 16 columns and 128 rows; a warp has a plane, lanes have rows:
//         for each view, for each column u:
//           sum[u] += sum over 6 columns i of w_i(u') (sum over 2 planes j of w_j(t') turned(t_j, i))
//       turned(t, u, v) = sum over k of w_k(v') group(t, u, v_k)                turn_rows in rows.cu
//     gather.cu: a block has 8 lines, 16 voxels of each and 64 rows; lanes are rows:
//       for each group:
//         a warp has some columns i of the group, for each line:
//           mixed[line][i] in shared memory = sum over 8 planes j of w_j(t') turned(t_j, i)
//         a warp has a line, for each voxel u:  sum[u] += sum over 8 columns i of w_i(u') mixed[line][i]
//     volume <- alpha (sum over k of w_k(v') line(u, v_k)) + beta volume        add_lines in rows.cu
//
// Sums stay in registers. Places and weights are the same for a warp and lie in shared memory; those of the
// next child are found meanwhile. `forward` is the transpose: the same steps with the same weights, in
// reverse order (scatter.cu).

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "../../launches.hpp"
#include "planes.cuh"

namespace tandem::kernels::cuda {

namespace {

/// Numbers of a group.
class Numbers {
 public:
  Numbers(Index count, cudaStream_t s) : all_(count + 2 * numbers_beside, s) {
    for (const Index at : {Index{0}, numbers_beside + count})
      check(cudaMemsetAsync(all_.data() + at, 0, numbers_beside * sizeof(float), s));
  }
  float* data() const { return all_.data() + numbers_beside; }
  float* with_zeros() const { return all_.data(); }

 private:
  Scratch<float> all_;
};
using Kept = std::unique_ptr<Numbers>;

class Application {
 public:
  Application(const HierarchicalViews& n, const PlanesOnDevice& planes, cudaStream_t s)
      : n_(n), planes_(planes), s_(s) {}

  void back(Image<const float> projections, Update update, Image<float> volume) const {
    for (std::size_t q = 0; q < n_.quarters.size(); ++q) {
      const VoxelLines& quarter = n_.quarters[q];
      const ViewGroup& group = n_.groups[quarter.group];
      std::vector<Kept> turned;
      for (const std::size_t child : group.children) {
        turned.push_back(numbers(numbers_of(n_.groups[child].turned)));
        const Kept own = gathered(child, projections);
        turn_rows(turning(child, group, false), own->data(), turned.back()->data(), s_);
      }
      const auto joints = joints_of(group, group.children, turned);
      const Scratch<Joint> there(std::span<const Joint>(joints), s_);
      for_some_lines(group, [&](Range lines) {
        const Kept sums = numbers(numbers_within(group, lines));
        float* from_0 = sums->data() - first_number(group, lines);
        cuda::gather(merging(quarter.group, lines), there.data(), int_of(joints.size()), false, from_0, s_);
        add_lines(voxel_pass(quarter, lines), from_0, {update.alpha, q == 0 ? update.beta : 1}, volume, s_);
      });
    }
  }

  void forward(Image<const float> volume, Update update, Image<float> projections) const {
    for (const VoxelLines& quarter : n_.quarters) {
      const ViewGroup& group = n_.groups[quarter.group];
      const Range lines{0, std::ssize(group.planes)};
      Kept values = numbers(numbers_of(group.planes));
      spread_lines(voxel_pass(quarter, lines), volume, values->data(), s_);
      std::vector<Kept> turned;
      for (const std::size_t child : group.children)
        turned.push_back(numbers(numbers_of(n_.groups[child].turned)));
      cuda::scatter(merging(quarter.group, lines), joints_of(group, group.children, turned), values->data(),
                    s_);
      values.reset();
      for (std::size_t k = 0; k < turned.size(); ++k) {
        const std::size_t child = group.children[k];
        const Kept own = numbers(numbers_of(n_.groups[child].planes));
        turn_rows_back(turning(child, group, true), turned[k]->data(), own->data(), s_);
        turned[k].reset();
        scatter_views(child, *own, update, projections);
      }
    }
  }

 private:
  Kept numbers(Index count) const { return std::make_unique<Numbers>(count, s_); }
  std::size_t turned_at(std::size_t group) const {
    return planes_.first[group] + n_.groups[group].planes.size();
  }

  std::vector<Joint> joints_of(const ViewGroup& parent, std::span<const std::size_t> children,
                               const std::vector<Kept>& data) const {
    std::vector<Joint> joints;
    for (std::size_t k = 0; k < children.size(); ++k) {
      const ViewGroup& child = n_.groups[children[k]];
      const Hull hull(child.turned);
      joints.push_back({n_.turn(child, parent), child.t, planes_.turned.data() + turned_at(children[k]),
                        planes_.columns.data() + turned_at(children[k]), data[k]->with_zeros(),
                        int_of(child.turned.size()), int_of(hull.columns.first), int_of(hull.columns.last),
                        int_of(hull.rows.first), int_of(hull.rows.last)});
    }
    return joints;
  }

  Merging merging(std::size_t at, Range planes) const {
    const ViewGroup& group = n_.groups[at];
    const ViewGroup& child = n_.groups[group.children[0]];
    Index columns = 0, rows = 0;
    for (Index j = planes.first; j < planes.last; j += lines_a_block) {
      const Hull hull(std::span(group.planes).subspan(j, std::min<Index>(lines_a_block, planes.last - j)));
      columns = std::max(columns, hull.columns.size()), rows = std::max(rows, hull.rows.size());
    }
    const Taps& across = n_.along_u(child);
    const Steps steps = planes_.steps[at];
    return {planes_.planes.data() + planes_.first[at] + planes.first,
            int_of(planes.size()),
            n_.axis_column,
            n_.step_u,
            child.is_view(),
            n_.view_weight(),
            across,
            n_.along_t(child),
            int_of(columns),
            int_of(rows),
            floor_int(steps.most * (columns_a_block - 1)) + 2 + across.count,
            (columns_a_block - 1) * std::max(steps.most - 1, 1 - steps.least),
            floor_int((own_columns_a_block + across.count) / std::max(steps.least, 1e-3)) + 4};
  }

  Turning turning(std::size_t which, const ViewGroup& parent, bool back) const {
    const ViewGroup& child = n_.groups[which];
    const auto& to = back ? child.planes : child.turned;
    Index columns = 0, rows = 0;
    for (const DisparityPlane& p : to)
      columns = std::max(columns, p.columns.size()), rows = std::max(rows, p.rows.size());
    return {n_.turn(child, parent),
            n_.middle_row,
            n_.axis_column,
            n_.step_u,
            n_.flat(),
            child.is_view(),
            n_.along_v(child),
            planes_.planes.data() + planes_.first[which],
            planes_.planes.data() + turned_at(which),
            int_of(child.turned.size()),
            int_of(columns),
            int_of(rows)};
  }

  VoxelPass voxel_pass(const VoxelLines& quarter, Range lines) const {
    Index rows = 0;
    for (const DisparityPlane& p : n_.groups[quarter.group].planes) rows = std::max(rows, p.rows.size());
    return {planes_.planes.data() + planes_.first[quarter.group] + lines.first,
            int_of(lines.first),
            int_of(lines.size()),
            quarter.along_x,
            n_.flat(),
            int_of(rows),
            n_.middle_row,
            n_.z0,
            n_.pitch_z,
            n_.sod,
            n_.step_v,
            n_.across};
  }

  ThinPass wider() const {
    return {planes_.wider.first.data(),
            planes_.wider.weights.data(),
            n_.wider->count,
            n_.wider->samples.size(),
            n_.bins,
            1,
            n_.rows};
  }
  ThinPass taller() const {
    return {planes_.taller.first.data(),
            planes_.taller.weights.data(),
            n_.taller->count,
            n_.taller->samples.size(),
            n_.rows,
            n_.view_columns().size(),
            1};
  }
  /// A view as (column, row).
  Kept columns_of_view(Image<const float> projections, int view) const {
    Kept data = numbers(n_.bins * n_.rows);
    bins_of_view(n_, projections, view, data->data(), s_);
    if (n_.wider) {
      Kept samples = numbers(n_.view_columns().size() * n_.rows);
      thin(wider(), data->data(), samples->data(), s_);
      data = std::move(samples);
    }
    if (n_.taller) {
      Kept samples = numbers(n_.view_columns().size() * n_.view_rows().size());
      thin(taller(), data->data(), samples->data(), s_);
      data = std::move(samples);
    }
    return data;
  }
  /// A view from that.
  void store(Kept data, int view, Update update, Image<float> projections) const {
    if (n_.taller) {
      Kept cells = numbers(n_.view_columns().size() * n_.rows);
      thin_back(taller(), data->data(), cells->data(), s_);
      data = std::move(cells);
    }
    if (n_.wider) {
      Kept cells = numbers(n_.bins * n_.rows);
      thin_back(wider(), data->data(), cells->data(), s_);
      data = std::move(cells);
    }
    store_view(n_, data->data(), view, update, projections, s_);
  }

  /// The back-projection of the views of a group.
  Kept gathered(std::size_t at, Image<const float> projections) const {
    const ViewGroup& group = n_.groups[at];
    Kept sums = numbers(numbers_of(group.planes));
    const Merging all = merging(at, {0, std::ssize(group.planes)});
    for_some_views(n_, group, [&](std::span<const std::size_t> views, bool first) {
      std::vector<Kept> turned;
      for (const std::size_t view : views) {
        const Kept columns = columns_of_view(projections, n_.groups[view].view);
        turned.push_back(numbers(numbers_of(n_.groups[view].turned)));
        turn_rows(turning(view, group, false), columns->data(), turned.back()->data(), s_);
      }
      const auto joints = joints_of(group, views, turned);
      const Scratch<Joint> there(std::span<const Joint>(joints), s_);
      cuda::gather(all, there.data(), int_of(joints.size()), !first, sums->data(), s_);
    });
    return sums;
  }

  /// Hands the numbers of a group of views on to its views.
  void scatter_views(std::size_t at, const Numbers& values, Update update, Image<float> projections) const {
    const ViewGroup& group = n_.groups[at];
    const Merging all = merging(at, {0, std::ssize(group.planes)});
    for_some_views(n_, group, [&](std::span<const std::size_t> views, bool) {
      std::vector<Kept> turned;
      for (const std::size_t view : views) turned.push_back(numbers(numbers_of(n_.groups[view].turned)));
      cuda::scatter(all, joints_of(group, views, turned), values.data(), s_);
      for (std::size_t k = 0; k < views.size(); ++k) {
        Kept columns = numbers(numbers_of(n_.groups[views[k]].planes));
        turn_rows_back(turning(views[k], group, true), turned[k]->data(), columns->data(), s_);
        store(std::move(columns), n_.groups[views[k]].view, update, projections);
      }
    });
  }

  const HierarchicalViews& n_;
  const PlanesOnDevice& planes_;
  cudaStream_t s_;
};

/// use(Application) for these views.
template <class Use>
void apply(const HierarchicalViews& n, Stream& stream, const Use& use) {
  const cudaStream_t s = queue(stream);
  const auto planes = n.kept.use<PlanesOnDevice>(
      stream, [&](const KeptOnDevices::Streams& streams) { return planes_of(n, streams); });
  use(Application(n, *planes, s));
}

void forward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  note_launch("hierarchical forward");
  apply(n, stream, [&](const Application& a) { a.forward(volume, {alpha, beta}, projections); });
}

void backward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  note_launch("hierarchical backward");
  apply(n, stream, [&](const Application& a) { a.back(projections, {alpha, beta}, volume); });
}

}  // namespace

namespace hierarchical_variants {

HierarchicalVariant hierarchical() {
  return {.name = "hierarchical",
          .grades = {{Precision::float32, true, bounds::passes_on_cuda}},
          .forward = forward,
          .backward = backward,
          .working_memory = nullptr,
          .kernels = [](Device) {
            return std::vector<std::string>{"hierarchical forward", "hierarchical backward"};
          }};
}

}  // namespace hierarchical_variants

}  // namespace tandem::kernels::cuda
