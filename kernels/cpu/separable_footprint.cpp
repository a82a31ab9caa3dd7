// The footprint separates: bins are shared by a whole column of voxels, rows by all its bins. Both directions
// take a column and a view at a time: back-projection adds its bins up to one profile along the rows and
// reads that at every voxel; projection lays the voxels down as a profile and adds that to every bin. Columns
// and rows are contiguous: volumes are turned to (y, x, slice), projections to (view, bin, row).

#include "tandem/kernels/cpu/separable_footprint.hpp"

#include <vector>

#include "tandem/core/parallel.hpp"
#include "tandem/kernels/footprint.hpp"

namespace tandem::kernels::cpu {

namespace {

/// A column of voxels in a view: its trapezoid, and the bins and rows that it meets.
struct Shadow {
  Trapezoid<double> trapezoid;
  Column column;
  Range bins, rows;

  Shadow(const ConeViews& n, const ConeView& view, Index ix, Index iy, Index slices, Index all_rows,
         Index all_bins)
      : trapezoid(trapezoid_of(n, view, ix, iy)),
        column(column_at(n, trapezoid.distance)),
        bins(cells_between(trapezoid.corners[0], trapezoid.corners[3], all_bins)),
        rows(cells_between(column.first, column.first + column.step * static_cast<double>(slices),
                           all_rows)) {}
  bool misses() const { return bins.size() <= 0 || rows.size() <= 0; }
};

/// What a thread needs for one column after the other.
struct Workspace {
  std::vector<float> profile;   ///< one a row
  std::vector<double> running;  ///< one an edge of rows
  Edges edges;
  explicit Workspace(Index rows)
      : profile(static_cast<std::size_t>(rows)), running(static_cast<std::size_t>(rows + 1)) {}
};

/// profile[row] = sum over voxels of what share of the row each covers, times its value: an edge between two
/// voxels is a step of their difference, for the rest of its own row and all rows above.
void lay_down(const float* voxels, const Edges& edges, Range rows, std::vector<double>& steps,
              std::vector<float>& profile) {
  std::fill(steps.begin() + rows.first, steps.begin() + rows.last + 1, 0.0);
  const auto count = static_cast<Index>(edges.row.size()) - 1;
  double below = 0;
  for (Index e = 0; e <= count; ++e) {
    const double value = e < count ? static_cast<double>(voxels[e]) : 0.0, step = value - below;
    const auto row = static_cast<std::size_t>(edges.row[static_cast<std::size_t>(e)]);
    const double part = edges.part[static_cast<std::size_t>(e)];
    steps[row] += step * (1 - part);
    steps[row + 1] += step * part;
    below = value;
  }
  double sum = 0;
  for (Index row = rows.first; row < rows.last; ++row) {
    sum += steps[static_cast<std::size_t>(row)];
    profile[static_cast<std::size_t>(row)] = static_cast<float>(sum);
  }
}

/// sums[voxel] += the integral of a profile between the voxel's edges.
void pick_up(const std::vector<float>& profile, const Edges& edges, Range rows, std::vector<double>& integral,
             std::vector<float>& sums) {
  integral[static_cast<std::size_t>(rows.first)] = 0;
  for (Index row = rows.first; row < rows.last; ++row)
    integral[static_cast<std::size_t>(row + 1)] =
        integral[static_cast<std::size_t>(row)] + static_cast<double>(profile[static_cast<std::size_t>(row)]);
  const auto up_to = [&](std::size_t e) {
    const auto row = static_cast<std::size_t>(edges.row[e]);
    return integral[row] + edges.part[e] * static_cast<double>(profile[row]);
  };
  double before = up_to(0);
  for (std::size_t iz = 0; iz < sums.size(); ++iz) {
    const double after = up_to(iz + 1);
    sums[iz] += static_cast<float>(after - before);
    before = after;
  }
}

void project_view(const ConeViews& n, Index v, const float* turned, Shape volume, float alpha, float beta,
                  Image<float> projections) {
  const Index slices = volume[0], rows = projections.n1, bins = projections.n2;
  std::vector<float> sums(static_cast<std::size_t>(bins * rows));
  Workspace w(rows);
  for (Index iy = 0; iy < volume[1]; ++iy)
    for (Index ix = 0; ix < volume[2]; ++ix) {
      const Shadow shadow(n, n.views[static_cast<std::size_t>(v)], ix, iy, slices, rows, bins);
      if (shadow.misses()) continue;
      w.edges.find(shadow.column, slices, shadow.rows);
      lay_down(turned + (iy * volume[2] + ix) * slices, w.edges, shadow.rows, w.running, w.profile);
      for (Index bin = shadow.bins.first; bin < shadow.bins.last; ++bin) {
        const auto weight = static_cast<float>(mean_over(shadow.trapezoid, bin));
        float* to = sums.data() + bin * rows;
        for (Index row = shadow.rows.first; row < shadow.rows.last; ++row)
          to[row] += weight * w.profile[static_cast<std::size_t>(row)];
      }
    }
  for (Index row = 0; row < rows; ++row)
    for (Index bin = 0; bin < bins; ++bin) {
      float& out = projections(v, row, bin);
      const float value = alpha * static_cast<float>(slant_of(n, row, bin)) *
                          sums[static_cast<std::size_t>(bin * rows + row)];
      out = beta == 0 ? value : value + beta * out;
    }
}

void forward(const ConeViews& n, float alpha, Image<const float> volume, float beta, Image<float> projections,
             Stream&) {
  Array turned(Space({volume.n1, volume.n2, volume.n0}));
  parallel_for(volume.n1, [&](Index iy) {
    for (Index ix = 0; ix < volume.n2; ++ix)
      for (Index iz = 0; iz < volume.n0; ++iz)
        turned.data()[(iy * volume.n2 + ix) * volume.n0 + iz] = volume(iz, iy, ix);
  });
  parallel_for(projections.n0, [&](Index v) {
    project_view(n, v, turned.data(), {volume.n0, volume.n1, volume.n2}, alpha, beta, projections);
  });
}

/// One column of voxels: all views, in their order.
void back_project_column(const ConeViews& n, Index ix, Index iy, const float* turned, Index rows, Index bins,
                         Workspace& w, std::vector<float>& sums) {
  const auto slices = static_cast<Index>(sums.size());
  std::fill(sums.begin(), sums.end(), 0.0f);
  for (std::size_t v = 0; v < n.views.size(); ++v) {
    const Shadow shadow(n, n.views[v], ix, iy, slices, rows, bins);
    if (shadow.misses()) continue;
    std::fill(w.profile.begin() + shadow.rows.first, w.profile.begin() + shadow.rows.last, 0.0f);
    for (Index bin = shadow.bins.first; bin < shadow.bins.last; ++bin) {
      const auto weight = static_cast<float>(mean_over(shadow.trapezoid, bin));
      const float* from = turned + (static_cast<Index>(v) * bins + bin) * rows;
      for (Index row = shadow.rows.first; row < shadow.rows.last; ++row)
        w.profile[static_cast<std::size_t>(row)] += weight * from[row];
    }
    w.edges.find(shadow.column, slices, shadow.rows);
    pick_up(w.profile, w.edges, shadow.rows, w.running, sums);
  }
}

void backward(const ConeViews& n, float alpha, Image<const float> projections, float beta,
              Image<float> volume, Stream&) {
  const Index views = projections.n0, rows = projections.n1, bins = projections.n2;
  Array turned(Space({views, bins, rows}));
  parallel_for(views, [&](Index v) {
    for (Index bin = 0; bin < bins; ++bin)
      for (Index row = 0; row < rows; ++row)
        turned.data()[(v * bins + bin) * rows + row] =
            static_cast<float>(slant_of(n, row, bin)) * projections(v, row, bin);
  });
  parallel_for(volume.n1, [&](Index iy) {
    std::vector<float> sums(static_cast<std::size_t>(volume.n0));
    Workspace w(rows);
    for (Index ix = 0; ix < volume.n2; ++ix) {
      back_project_column(n, ix, iy, turned.data(), rows, bins, w, sums);
      for (Index iz = 0; iz < volume.n0; ++iz) {
        float& out = volume(iz, iy, ix);
        const float value = alpha * sums[static_cast<std::size_t>(iz)];
        out = beta == 0 ? value : value + beta * out;
      }
    }
  });
}

}  // namespace

WorkingMemory cone_working_memory(Shape volume, Shape projections) {
  const auto bytes = [](Index count) { return sizeof(float) * static_cast<double>(count); };
  const double view = bytes(projections[1] * projections[2]);
  return {bytes(volume[0] * volume[1] * volume[2]) + thread_count() * view,
          static_cast<double>(projections[0]) * view};
}

const ConeKernels separable_footprint_kernels{forward, backward, cone_working_memory};

}  // namespace tandem::kernels::cpu
