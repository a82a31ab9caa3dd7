// Derivatives of the pair for any geometry by its views, in double. A thread has a view, and goes through the
// bricks in their order; in back-projection it has a brick, and sums over views in their order.

#include "../flexible_derivatives.hpp"

#include <algorithm>

#include "../../core/parallel.hpp"
#include "moving_view.hpp"
#include "trapezoid_shares.hpp"

namespace tandem::kernels {

namespace cpu {
namespace {

struct VoxelShares {
  TrapezoidShares bins, rows;
  void cast(const VoxelNumbers& v, Cells cells) {
    rows.cast(v.row, v.row_side, v.row_flank, cells.rows);
    bins.cast(v.bin, v.bin_side, v.bin_flank, cells.bins);
  }
};

/// Sums of a view's cells times a voxel's shares, or times the derivatives of these.
struct Gathered {
  double value = 0;
  Share by_bin{}, by_row{};
};

Gathered gathered(const VoxelShares& shares, Cells cells, const double* view) {
  Gathered all;
  for (std::size_t j = 0; j < shares.rows.cells().size(); ++j) {
    const Share& r = shares.rows.cells()[j];
    const double* line = view + (shares.rows.first() + j) * cells.bins + shares.bins.first();
    Share sum;
    for (std::size_t i = 0; i < shares.bins.cells().size(); ++i) {
      const Share& b = shares.bins.cells()[i];
      sum.value += line[i] * b.value, sum.by_place += line[i] * b.by_place;
      sum.by_side += line[i] * b.by_side, sum.by_flank += line[i] * b.by_flank;
    }
    all.value += r.value * sum.value;
    all.by_bin.by_place += r.value * sum.by_place, all.by_row.by_place += r.by_place * sum.value;
    all.by_bin.by_side += r.value * sum.by_side, all.by_row.by_side += r.by_side * sum.value;
    all.by_bin.by_flank += r.value * sum.by_flank, all.by_row.by_flank += r.by_flank * sum.value;
  }
  return all;
}

/// use(cell, coefficient of a bin, coefficient of a row)
template <class Use>
void for_cells(const VoxelShares& shares, Cells cells, const Use& use) {
  for (std::size_t j = 0; j < shares.rows.cells().size(); ++j)
    for (std::size_t i = 0; i < shares.bins.cells().size(); ++i)
      use((shares.rows.first() + j) * cells.bins + shares.bins.first() + i, shares.bins.cells()[i],
          shares.rows.cells()[j]);
}

/// use(number of the voxel in the volume, from the middle of the brick in voxels)
template <class Use>
void for_voxels(const Brick& brick, const VolumeGrid& grid, const Use& use) {
  const auto away = [&](std::size_t axis, Index i) { return i - brick.middle(axis); };
  for (Index z = brick.part[2].first; z < brick.part[2].last; ++z)
    for (Index y = brick.part[1].first; y < brick.part[1].last; ++y)
      for (Index x = brick.part[0].first; x < brick.part[0].last; ++x)
        use((z * grid.size[1] + y) * grid.size[0] + x, Vector3{away(0, x), away(1, y), away(2, z)});
}

/// use(cell, row, bin)
template <class Use>
void for_all_cells(Cells cells, const Use& use) {
  for (Index row = 0; row < cells.rows; ++row)
    for (Index bin = 0; bin < cells.bins; ++bin) use(row * cells.bins + bin, row, bin);
}

/// The sum of a view without the distances of its cells, and its derivative along a change of the view.
struct Sums {
  std::vector<double> values, changes;
};

template <class T>
Sums sums_of(const MovingViews& n, const MovingView& view, const T* volume, const ViewNumbers* change) {
  const Cells cells = cells_of(n);
  const std::size_t count = cells.size();
  Sums all{std::vector<double>(count), std::vector<double>(change ? count : 0)};
  VoxelShares shares;
  for (Index k = 0; k < Brick::count(n.grid.shape()); ++k) {
    const Brick brick(n.grid.shape(), k);
    const BrickValues b = view.brick(brick);
    BrickValues moved{};
    if (change) {
      const auto by = view.derivatives(brick);
      std::array<double, numbers_of_brick> numbers{};
      for (std::size_t i = 0; i < numbers_of_brick; ++i)
        for (std::size_t j = 0; j < numbers_of_view; ++j)
          if ((*change)[j] != 0) numbers[i] += by[i][j] * (*change)[j];
      moved = from_a_row(numbers);
    }
    for_voxels(brick, n.grid, [&](Index voxel, const Vector3& away) {
      const double x = volume[voxel];
      if (x == 0) return;
      const VoxelNumbers v = voxel_numbers(b, away);
      shares.cast(v, cells);
      for_cells(shares, cells, [&](Index cell, const Share& bin, const Share& row) {
        all.values[cell] += x * v.mass * bin.value * row.value;
      });
      if (!change) return;
      const VoxelNumbers d = voxel_changes(b, v, moved, away);
      for_cells(shares, cells, [&](Index cell, const Share& bin, const Share& row) {
        const double by_bin = bin.by_place * d.bin + bin.by_side * d.bin_side + bin.by_flank * d.bin_flank,
                     by_row = row.by_place * d.row + row.by_side * d.row_side + row.by_flank * d.row_flank;
        all.changes[cell] +=
            x * (d.mass * bin.value * row.value + v.mass * (by_bin * row.value + bin.value * by_row));
      });
    });
  }
  return all;
}

/// Adds what a voxel's sums say of its brick's numbers.
void add_gradient(const BrickValues& b, const VoxelNumbers& v, const Gathered& g, double x,
                  const Vector3& away, std::array<double, numbers_of_brick>& sums) {
  const double xm = x * v.mass;
  const double by_inverse = 2 * x * b.mass * v.inverse * g.value +
                            xm * (g.by_bin.by_place * v.bins + g.by_row.by_place * v.rows +
                                  g.by_bin.by_side * b.bin_side + g.by_bin.by_flank * b.bin_flank +
                                  g.by_row.by_side * b.row_side + g.by_row.by_flank * b.row_flank);
  for (std::size_t k = 0; k < 3; ++k) {
    sums[k] -= by_inverse * v.inverse * v.inverse * away[k];
    sums[3 + k] += xm * g.by_bin.by_place * v.inverse * away[k];
    sums[6 + k] += xm * g.by_row.by_place * v.inverse * away[k];
  }
  sums[9] += xm * g.by_bin.by_place, sums[10] += xm * g.by_row.by_place;
  sums[11] += x * v.inverse * v.inverse * g.value;
  sums[12] += xm * v.inverse * g.by_bin.by_side, sums[13] += xm * v.inverse * g.by_bin.by_flank;
  sums[14] += xm * v.inverse * g.by_row.by_side, sums[15] += xm * v.inverse * g.by_row.by_flank;
}

/// The cells of a view times their distances.
template <class T>
std::vector<double> slanted(const MovingView& view, Cells cells, const T* projection) {
  std::vector<double> all(cells.size());
  for_all_cells(cells, [&](std::size_t cell, Index row, Index bin) {
    all[cell] = view.distance(row, bin) * projection[cell];
  });
  return all;
}

template <class T>
ViewNumbers gradient_of_view(const MovingViews& n, std::size_t number, const T* volume, const T* projection) {
  const Cells cells = cells_of(n);
  const MovingView view(n, number);
  const std::vector<double> weights = slanted(view, cells, projection);
  ViewNumbers gradient{};
  VoxelShares shares;
  for (Index k = 0; k < Brick::count(n.grid.shape()); ++k) {
    const Brick brick(n.grid.shape(), k);
    const BrickValues b = view.brick(brick);
    std::array<double, numbers_of_brick> sums{};
    for_voxels(brick, n.grid, [&](Index voxel, const Vector3& away) {
      const double x = volume[voxel];
      if (x == 0) return;
      const VoxelNumbers v = voxel_numbers(b, away);
      shares.cast(v, cells);
      add_gradient(b, v, gathered(shares, cells, weights.data()), x, away, sums);
    });
    const auto by = view.derivatives(brick);
    for (std::size_t i = 0; i < numbers_of_brick; ++i)
      for (std::size_t j = 0; j < numbers_of_view; ++j)
        if (sums[i] != 0) gradient[j] += sums[i] * by[i][j];
  }
  if (n.parallel) return gradient;
  const Sums seen = sums_of(n, view, volume, nullptr);
  for_all_cells(cells, [&](std::size_t cell, Index row, Index bin) {
    const ViewNumbers by = view.distance_derivatives(row, bin);
    for (std::size_t j = 0; j < numbers_of_view; ++j)
      gradient[j] += projection[cell] * seen.values[cell] * by[j];
  });
  return gradient;
}

}  // namespace
}  // namespace cpu

template <class T>
void project(const MovingViews& n, const T* volume, T* projections) {
  const cpu::Cells cells = cpu::cells_of(n);
  parallel_for(std::ssize(n.views), [&](Index v) {
    const cpu::MovingView view(n, v);
    const cpu::Sums sums = cpu::sums_of(n, view, volume, nullptr);
    cpu::for_all_cells(cells, [&](std::size_t cell, Index row, Index bin) {
      projections[v * cells.size() + cell] = static_cast<T>(view.distance(row, bin) * sums.values[cell]);
    });
  });
}

template <class T>
void back_project(const MovingViews& n, const T* projections, T* volume) {
  const cpu::Cells cells = cpu::cells_of(n);
  std::vector<cpu::MovingView> views;
  std::vector<std::vector<double>> weights;
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    views.emplace_back(n, v);
    weights.push_back(cpu::slanted(views.back(), cells, projections + v * cells.size()));
  }
  parallel_for(cpu::Brick::count(n.grid.shape()), [&](Index k) {
    const cpu::Brick brick(n.grid.shape(), k);
    std::array<double, cpu::slab * brick_edge> sums{};
    cpu::VoxelShares shares;
    for (std::size_t v = 0; v < views.size(); ++v) {
      const cpu::BrickValues b = views[v].brick(brick);
      std::size_t at = 0;
      cpu::for_voxels(brick, n.grid, [&](Index, const Vector3& away) {
        const cpu::VoxelNumbers numbers = cpu::voxel_numbers(b, away);
        shares.cast(numbers, cells);
        sums[at++] += numbers.mass * cpu::gathered(shares, cells, weights[v].data()).value;
      });
    }
    std::size_t at = 0;
    cpu::for_voxels(brick, n.grid,
                    [&](Index voxel, const Vector3&) { volume[voxel] = static_cast<T>(sums[at++]); });
  });
}

template <class T>
void project_changes(const MovingViews& n, const T* volume, std::span<const ViewNumbers> changes,
                     T* projections) {
  const cpu::Cells cells = cpu::cells_of(n);
  parallel_for(std::ssize(n.views), [&](Index v) {
    const cpu::MovingView view(n, v);
    const ViewNumbers& change = changes[v];
    const cpu::Sums sums = cpu::sums_of(n, view, volume, &change);
    cpu::for_all_cells(cells, [&](std::size_t cell, Index row, Index bin) {
      const ViewNumbers by = view.distance_derivatives(row, bin);
      double distance = 0;
      for (std::size_t j = 0; j < numbers_of_view; ++j) distance += by[j] * change[j];
      projections[v * cells.size() + cell] =
          static_cast<T>(view.distance(row, bin) * sums.changes[cell] + distance * sums.values[cell]);
    });
  });
}

template <class T>
std::vector<ViewNumbers> gradient_by_views(const MovingViews& n, const T* volume, const T* projections) {
  const Index cells = cpu::cells_of(n).size();
  std::vector<ViewNumbers> all(n.views.size());
  parallel_for(std::ssize(n.views),
               [&](Index v) { all[v] = cpu::gradient_of_view(n, v, volume, projections + v * cells); });
  return all;
}

template void project(const MovingViews&, const float*, float*);
template void project(const MovingViews&, const double*, double*);
template void back_project(const MovingViews&, const float*, float*);
template void back_project(const MovingViews&, const double*, double*);
template void project_changes(const MovingViews&, const float*, std::span<const ViewNumbers>, float*);
template void project_changes(const MovingViews&, const double*, std::span<const ViewNumbers>, double*);
template std::vector<ViewNumbers> gradient_by_views(const MovingViews&, const float*, const float*);
template std::vector<ViewNumbers> gradient_by_views(const MovingViews&, const double*, const double*);

}  // namespace tandem::kernels
