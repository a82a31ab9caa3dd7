// The hierarchical pair on a GPU, depth first as on the CPU (kernels/cpu/hierarchical.cpp), pass by pass. The
// planes of all groups stay on the device with the geometry.

#include <algorithm>
#include <memory>
#include <vector>

#include "../../cone_hats.hpp"
#include "../../launches.hpp"
#include "../common/device_table.cuh"
#include "../common/elements.cuh"
#include "passes.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int edge = 32, lines_of_block = 8;
using Numbers = std::unique_ptr<Scratch<float>>;

/// The planes of all groups, one after another: their own, then the turned ones.
struct PlanesOnDevice {
  DeviceTable<DisparityPlane> planes;
  std::vector<std::size_t> first;  ///< of each group
};

PlanesOnDevice planes_of(const HierarchicalViews& n, const KeptOnDevices::Streams& streams) {
  std::vector<DisparityPlane> all;
  std::vector<std::size_t> first;
  for (const ViewGroup& group : n.groups) {
    first.push_back(all.size());
    all.insert(all.end(), group.planes.begin(), group.planes.end());
    all.insert(all.end(), group.turned.begin(), group.turned.end());
  }
  return {DeviceTable<DisparityPlane>(std::span<const DisparityPlane>(all), streams), std::move(first)};
}

int most(const std::vector<DisparityPlane>& planes, Index (*size)(const DisparityPlane&)) {
  Index found = 0;
  for (const DisparityPlane& plane : planes) found = std::max(found, size(plane));
  return static_cast<int>(found);
}
Index columns_of(const DisparityPlane& plane) { return plane.columns.size(); }
Index rows_of_plane(const DisparityPlane& plane) { return plane.rows.size(); }

/// (bin, row) <- rays of a view times their slant, or the other way round.
__global__ void __launch_bounds__(edge* lines_of_block)
    turn_view(ConeFrame n, Image<const float> projections, Index view, float* columns) {
  __shared__ float tile[edge][edge + 1];
  const Index bin0 = blockIdx.x * edge, row0 = blockIdx.y * edge;
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index row = row0 + k, bin = bin0 + threadIdx.x; row < projections.n1 && bin < projections.n2)
      tile[k][threadIdx.x] =
          static_cast<float>(ray_length(n, row, bin) / n.sdd) * element(projections, view, row, bin);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index bin = bin0 + k, row = row0 + threadIdx.x; row < projections.n1 && bin < projections.n2)
      columns[bin * projections.n1 + row] = tile[threadIdx.x][k];
}

__global__ void __launch_bounds__(edge* lines_of_block)
    store_view(ConeFrame n, const float* columns, Index view, Update update, Image<float> projections) {
  __shared__ float tile[edge][edge + 1];
  const Index bin0 = blockIdx.x * edge, row0 = blockIdx.y * edge;
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index bin = bin0 + k, row = row0 + threadIdx.x; row < projections.n1 && bin < projections.n2)
      tile[threadIdx.x][k] = columns[bin * projections.n1 + row];
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index row = row0 + k, bin = bin0 + threadIdx.x; row < projections.n1 && bin < projections.n2)
      update(element(projections, view, row, bin),
             static_cast<float>(ray_length(n, row, bin) / n.sdd) * tile[k][threadIdx.x]);
}

/// (y, x, slice) <-> (slice, y, x); a block has a square of slices and x.
__global__ void __launch_bounds__(edge* lines_of_block)
    turn_volume(Image<const float> volume, float* columns) {
  __shared__ float tile[edge][edge + 1];
  const Index x0 = blockIdx.x * edge, z0 = blockIdx.y * edge, y = blockIdx.z;
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index z = z0 + k, x = x0 + threadIdx.x; z < volume.n0 && x < volume.n2)
      tile[k][threadIdx.x] = element(volume, z, y, x);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index x = x0 + k, z = z0 + threadIdx.x; z < volume.n0 && x < volume.n2)
      columns[(y * volume.n2 + x) * volume.n0 + z] = tile[threadIdx.x][k];
}

__global__ void __launch_bounds__(edge* lines_of_block)
    store_volume(const float* columns, Update update, Image<float> volume) {
  __shared__ float tile[edge][edge + 1];
  const Index x0 = blockIdx.x * edge, z0 = blockIdx.y * edge, y = blockIdx.z;
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index x = x0 + k, z = z0 + threadIdx.x; z < volume.n0 && x < volume.n2)
      tile[threadIdx.x][k] = columns[(y * volume.n2 + x) * volume.n0 + z];
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.y); k < edge; k += lines_of_block)
    if (const Index z = z0 + k, x = x0 + threadIdx.x; z < volume.n0 && x < volume.n2)
      update(element(volume, z, y, x), tile[k][threadIdx.x]);
}

dim3 squares(Index across, Index down, Index deep) {
  return {static_cast<unsigned>(ceil_div<Index>(across, edge)),
          static_cast<unsigned>(ceil_div<Index>(down, edge)), static_cast<unsigned>(deep)};
}

class Application {
 public:
  Application(const HierarchicalViews& n, const PlanesOnDevice& planes, cudaStream_t s)
      : n_(n), planes_(planes), s_(s) {}

  void back(Image<const float> projections, Update update, Image<float> volume) {
    const Numbers columns = zeros(n_.nx * n_.ny * n_.nz);
    for (const VoxelLines& quarter : n_.quarters) {
      const ViewGroup& group = n_.groups[quarter.group];
      const std::vector<Numbers> turned = children_turned(group, projections);
      for_some(group, [&](Range lines) {
        const Numbers sums = zeros(numbers_within(group, lines));
        gather(group, quarter.group, lines, turned, sums->data(), first_number(group, lines));
        add_lines(lines_pass(quarter, lines), sums->data(), columns->data(), s_);
      });
    }
    store_volume<<<squares(n_.nx, n_.nz, n_.ny), dim3(edge, lines_of_block), 0, s_>>>(columns->data(), update,
                                                                                      volume);
    after_launch();
  }

  void forward(Image<const float> volume, Update update, Image<float> projections) {
    const Numbers columns = zeros(n_.nx * n_.ny * n_.nz);
    turn_volume<<<squares(n_.nx, n_.nz, n_.ny), dim3(edge, lines_of_block), 0, s_>>>(volume, columns->data());
    after_launch();
    for (const VoxelLines& quarter : n_.quarters) {
      const ViewGroup& group = n_.groups[quarter.group];
      std::vector<Numbers> turned = empty_children(group);
      for_some(group, [&](Range lines) {
        const Numbers values = zeros(numbers_within(group, lines));
        spread_lines(lines_pass(quarter, lines), columns->data(), values->data(), s_);
        scatter(group, quarter.group, lines, values->data(), first_number(group, lines), turned);
      });
      scatter_children(group, std::move(turned), update, projections);
    }
  }

 private:
  Numbers zeros(Index count) const {
    auto made = std::make_unique<Scratch<float>>(static_cast<std::size_t>(std::max<Index>(count, 1)), s_);
    check(cudaMemsetAsync(made->data(), 0,
                          sizeof(float) * static_cast<std::size_t>(std::max<Index>(count, 1)), s_));
    return made;
  }
  static Index first_number(const ViewGroup& group, Range planes) {
    return group.planes[static_cast<std::size_t>(planes.first)].offset;
  }
  static Index numbers_within(const ViewGroup& group, Range planes) {
    return group.planes[static_cast<std::size_t>(planes.last - 1)].end() - first_number(group, planes);
  }
  template <class Body>
  static void for_some(const ViewGroup& group, const Body& body) {
    const auto all = static_cast<Index>(group.planes.size());
    for (Index first = 0; first < all; first += lines_together)
      body(Range{first, std::min(first + lines_together, all)});
  }
  const DisparityPlane* own(std::size_t group) const { return planes_.planes.data() + planes_.first[group]; }
  const DisparityPlane* turned_of(std::size_t group) const {
    return own(group) + n_.groups[group].planes.size();
  }

  PassAlongRows rows_pass(std::size_t which, const ViewGroup& parent, bool back) const {
    const ViewGroup& child = n_.groups[which];
    const std::vector<DisparityPlane>& to = back ? child.planes : child.turned;
    return {n_.turn(child, parent),
            n_.middle_row,
            n_.flat(),
            n_.along_u(child),
            own(which),
            turned_of(which),
            static_cast<int>(child.turned.size()),
            child.is_view(),
            most(to, columns_of),
            most(to, rows_of_plane)};
  }

  LinesPass lines_pass(const VoxelLines& quarter, Range lines) const {
    const ViewGroup& group = n_.groups[quarter.group];
    return {own(quarter.group) + lines.first,
            static_cast<int>(lines.size()),
            static_cast<int>(lines.first),
            static_cast<int>(quarter.along_x ? n_.nx : n_.ny),
            most(group.planes, rows_of_plane),
            quarter.along_x,
            n_.flat(),
            n_.nx,
            n_.nz,
            first_number(group, lines),
            n_.middle_row,
            n_.z0,
            n_.pitch_z,
            n_.sod,
            n_.step_v,
            n_.across};
  }

  /// A child at some planes of its parent, with scratch for the passes.
  struct Crossed {
    Crossings c;
    Scratch<Place> across, along;
    Numbers between;
  };

  Crossings crossings_of(const ViewGroup& parent, std::size_t parent_at, std::size_t child_at,
                         Range planes) const {
    const ViewGroup& child = n_.groups[child_at];
    Crossings c{n_.turn(child, parent),
                n_.axis_column,
                n_.step_u,
                n_.columns(),
                child.t,
                child.is_view(),
                n_.view_weight(),
                n_.along_u(child),
                n_.along_t(child),
                own(parent_at) + planes.first,
                turned_of(child_at),
                static_cast<int>(planes.size()),
                static_cast<int>(child.turned.size()),
                {},
                {},
                0,
                0,
                0,
                most(child.turned, columns_of),
                most(child.turned, rows_of_plane),
                nullptr,
                nullptr,
                nullptr};
    for (int j = 0; j < c.count; ++j) {
      const DisparityPlane& plane = parent.planes[static_cast<std::size_t>(planes.first + j)];
      const Range read = columns_read(n_, c.turn, c.across, plane);
      c.first_column[j] = static_cast<int>(read.first), c.columns[j] = static_cast<int>(read.size());
      c.most_own_columns = std::max(c.most_own_columns, c.columns[j]);
      c.most_columns = std::max(c.most_columns, static_cast<int>(plane.columns.size()));
      c.most_rows = std::max(c.most_rows, static_cast<int>(plane.rows.size()));
    }
    return c;
  }

  /// With its places; null if these planes are empty.
  std::unique_ptr<Crossed> crossed_of(const ViewGroup& parent, std::size_t parent_at, std::size_t child_at,
                                      Range planes, bool keeps_between) const {
    const Crossings c = crossings_of(parent, parent_at, child_at, planes);
    if (c.most_own_columns == 0 || c.most_rows == 0) return nullptr;
    const auto count = static_cast<std::size_t>(c.count),
               columns = static_cast<std::size_t>(c.most_own_columns);
    auto made = std::unique_ptr<Crossed>(new Crossed{
        c, {count * static_cast<std::size_t>(c.most_columns), s_}, {count * columns, s_}, nullptr});
    if (keeps_between)
      made->between =
          std::make_unique<Scratch<float>>(count * columns * static_cast<std::size_t>(c.most_rows), s_);
    made->c.places_across = made->across.data(), made->c.places_along = made->along.data();
    made->c.between = keeps_between ? made->between->data() : nullptr;
    find_places(made->c, s_);
    return made;
  }

  /// A group of views: all of them in one pass.
  void gather_from_views(const ViewGroup& group, std::size_t at, Range planes,
                         const std::vector<Numbers>& turned, float* sums, Index first) const {
    std::vector<std::unique_ptr<Crossed>> crossed;
    std::vector<ViewCrossing> views;
    for (std::size_t k = 0; k < turned.size(); ++k) {
      crossed.push_back(crossed_of(group, at, group.children[k], planes, false));
      if (!crossed.back()) return;  // the same planes are empty for all
      views.push_back({crossed.back()->c, turned[k]->data()});
    }
    const Scratch<ViewCrossing> there(std::span<const ViewCrossing>(views), s_);
    gather_views(there.data(), static_cast<int>(views.size()), views[0].crossings, sums, first, s_);
  }

  void gather(const ViewGroup& group, std::size_t at, Range planes, const std::vector<Numbers>& turned,
              float* sums, Index first) const {
    if (n_.groups[group.children[0]].is_view())
      return gather_from_views(group, at, planes, turned, sums, first);
    for (std::size_t k = 0; k < turned.size(); ++k)
      if (const auto crossed = crossed_of(group, at, group.children[k], planes, true))
        gather_planes(crossed->c, turned[k]->data(), sums, first, s_);
  }
  void scatter(const ViewGroup& group, std::size_t at, Range planes, const float* values, Index first,
               std::vector<Numbers>& turned) const {
    for (std::size_t k = 0; k < turned.size(); ++k)
      if (const auto crossed = crossed_of(group, at, group.children[k], planes, true))
        scatter_planes(crossed->c, values, first, turned[k]->data(), s_);
  }

  Numbers gathered(std::size_t at, Image<const float> projections) const {
    const ViewGroup& group = n_.groups[at];
    Numbers sums = zeros(numbers_of(group.planes));
    if (group.is_view()) {
      turn_view<<<squares(n_.bins, n_.rows, 1), dim3(edge, lines_of_block), 0, s_>>>(
          n_, projections, group.view, sums->data());
      after_launch();
      return sums;
    }
    const std::vector<Numbers> turned = children_turned(group, projections);
    for_some(group, [&](Range planes) {
      gather(group, at, planes, turned, sums->data() + first_number(group, planes),
             first_number(group, planes));
    });
    return sums;
  }

  std::vector<Numbers> children_turned(const ViewGroup& group, Image<const float> projections) const {
    std::vector<Numbers> turned;
    for (const std::size_t child : group.children) {
      const Numbers data = gathered(child, projections);
      turned.push_back(zeros(numbers_of(n_.groups[child].turned)));
      turn_rows(rows_pass(child, group, false), data->data(), turned.back()->data(), s_);
    }
    return turned;
  }

  std::vector<Numbers> empty_children(const ViewGroup& group) const {
    std::vector<Numbers> turned;
    for (const std::size_t child : group.children)
      turned.push_back(zeros(numbers_of(n_.groups[child].turned)));
    return turned;
  }

  void scatter_children(const ViewGroup& group, std::vector<Numbers> turned, Update update,
                        Image<float> projections) const {
    for (std::size_t k = 0; k < turned.size(); ++k) {
      const std::size_t child = group.children[k];
      const ViewGroup& own_group = n_.groups[child];
      Numbers data = zeros(numbers_of(own_group.planes));
      turn_rows_back(rows_pass(child, group, true), turned[k]->data(), data->data(), s_);
      turned[k].reset();
      if (own_group.is_view()) {
        store_view<<<squares(n_.bins, n_.rows, 1), dim3(edge, lines_of_block), 0, s_>>>(
            n_, data->data(), own_group.view, update, projections);
        after_launch();
        continue;
      }
      std::vector<Numbers> next = empty_children(own_group);
      for_some(own_group, [&](Range planes) {
        scatter(own_group, child, planes, data->data() + first_number(own_group, planes),
                first_number(own_group, planes), next);
      });
      data.reset();
      scatter_children(own_group, std::move(next), update, projections);
    }
  }

  const HierarchicalViews& n_;
  const PlanesOnDevice& planes_;
  cudaStream_t s_;
};

void forward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> volume, float beta,
             Image<float> projections, Stream& stream) {
  note_launch("hierarchical forward");
  const cudaStream_t s = queue(stream);
  const auto planes =
      n.kept.use<PlanesOnDevice>(stream, [&](const auto& streams) { return planes_of(n, streams); });
  Application(n, *planes, s).forward(volume, {alpha, beta}, projections);
}

void backward(const HierarchicalViews& n, const Execution&, float alpha, Image<const float> projections,
              float beta, Image<float> volume, Stream& stream) {
  note_launch("hierarchical backward");
  const cudaStream_t s = queue(stream);
  const auto planes =
      n.kept.use<PlanesOnDevice>(stream, [&](const auto& streams) { return planes_of(n, streams); });
  Application(n, *planes, s).back(projections, {alpha, beta}, volume);
}

}  // namespace

namespace hierarchical_variants {

HierarchicalVariant hierarchical() {
  return {.name = "hierarchical",
          .grades = {{Precision::float32, true, bounds::passes}},
          .forward = forward,
          .backward = backward,
          .working_memory = nullptr,  // hierarchical_memory, which needs more than shapes
          .kernels =
              [](Device) {
                return std::vector<std::string>{"hierarchical forward", "hierarchical backward"};
              },
          .misfit = [](const HierarchicalViews& n, Precision, Shape, Device) -> const char* {
            return n.wider || n.taller ? "voxels are larger than cells as these appear at the axis, which a "
                                         "GPU does not average; "
                                         "bin the detector, or give --device cpu"
                                       : nullptr;
          }};
}

}  // namespace hierarchical_variants

}  // namespace tandem::kernels::cuda
