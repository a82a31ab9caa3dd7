// Joseph's sheets of rays meet columns of voxels, columns of voxels fall between sheets: the two models are
// each other turned round. A column, of rows or of slices, is interpolated across first, from its two
// neighbours, and then along; a transpose spreads it along first. Columns are contiguous: volumes are turned
// to (y, x, slice), projections to (view, bin, row). A thread has a view in projection and a line of columns
// in back-projection to itself.

#include <algorithm>
#include <vector>

#include "../../core/interrupts.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../cone.hpp"
#include "../cone_hats.hpp"
#include "../launches.hpp"
#include "update.hpp"

namespace tandem::kernels::cpu {

namespace {

/// A column with a zero before its first and after its last number.
class Column {
 public:
  explicit Column(Index count) : numbers_(count + 2) {}
  float& operator[](Index i) { return numbers_[i + 1]; }
  float operator[](Index i) const { return numbers_[i + 1]; }
  Index size() const { return numbers_.size() - 2; }
  void clear() { std::fill(numbers_.begin(), numbers_.end(), 0.0f); }
  void add(float weight, const float* from) {
    for (Index i = 0; i < size(); ++i) (*this)[i] += weight * from[i];
  }

 private:
  std::vector<float> numbers_;
};

/// body(neighbour, its weight) for those of [0, count) on both sides of a position.
template <class Body>
void for_neighbours(double position, Index count, const Body& body) {
  if (!(position > -1 && position < count)) return;
  const auto below = floor_index(position);
  for (const Index i : {below, below + 1})
    if (0 <= i && i < count) body(i, hat(position, i));
}

/// The indices of [0, count) that have a neighbour in [0, neighbours).
Range with_neighbours(Line line, Index count, Index neighbours) {
  const double end = neighbours;
  Range r = where_between(-1, line, end, count);
  while (r.first < r.last && line.at(r.first) <= -1) ++r.first;
  while (r.first < r.last && line.at(r.last - 1) >= end) --r.last;
  return r;
}

/// to[i] += weight from[line at i], i < count.
void interpolate(const Column& from, Line line, double weight_of_all, Index count, float* to) {
  const auto weight = static_cast<float>(weight_of_all);
  const Range r = with_neighbours(line, count, from.size());
  for (Index i = r.first; i < r.last; ++i) {
    const double position = line.at(i);
    const auto k = floor_index(position);
    to[i] += weight * (hat(position, k) * from[k] + hat(position, k + 1) * from[k + 1]);
  }
}

/// The transpose: to[line at i] += weight from[i].
void spread(const float* from, Line line, float weight, Index count, Column& to) {
  const Range r = with_neighbours(line, count, to.size());
  for (Index i = r.first; i < r.last; ++i) {
    const double position = line.at(i);
    const auto k = floor_index(position);
    to[k] += hat(position, k) * weight * from[i];
    to[k + 1] += hat(position, k + 1) * weight * from[i];
  }
}

Array turned(Image<const float> volume) {
  Array columns(Space({volume.n1, volume.n2, volume.n0}));
  parallel_for(volume.n1, [&](Index iy) {
    for (Index ix = 0; ix < volume.n2; ++ix)
      for (Index iz = 0; iz < volume.n0; ++iz)
        columns.data()[(iy * volume.n2 + ix) * volume.n0 + iz] = volume(iz, iy, ix);
  });
  return columns;
}

/// Turns projections, with every ray times its length.
Array turned(const ConeFrame& n, Image<const float> projections) {
  const Index rows = projections.n1, bins = projections.n2;
  Array columns(Space({projections.n0, bins, rows}));
  parallel_for(projections.n0, [&](Index v) {
    for (Index bin = 0; bin < bins; ++bin)
      for (Index row = 0; row < rows; ++row)
        columns.data()[(v * bins + bin) * rows + row] =
            static_cast<float>(ray_length(n, row, bin)) * projections(v, row, bin);
  });
  return columns;
}

/// Writes the sums of the rays of a bin, times their lengths.
void store_bin(const ConeFrame& n, Index v, Index bin, const float* sums, float alpha, float beta,
               Image<float> projections) {
  for (Index row = 0; row < projections.n1; ++row)
    update(projections(v, row, bin), alpha * static_cast<float>(ray_length(n, row, bin)) * sums[row], beta);
}

// ---- Joseph

void joseph_forward(const ConeViews& views, const Execution&, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream&) {
  note_launch("joseph forward");
  const ConeFrame& n = views;
  const Array columns = turned(volume);
  const Index slices = volume.n0, nx = volume.n2, ny = volume.n1, rows = projections.n1;
  parallel_for(projections.n0, [&](Index v) {
    Column between(slices);
    std::vector<float> sums(rows);
    for (Index bin = 0; bin < projections.n2; ++bin) {
      let_interrupt();
      const Sheet sheet = sheet_of(n, views.views[v], bin);
      const Index planes = sheet.along_x ? nx : ny, across = sheet.along_x ? ny : nx;
      const Range met = with_neighbours(sheet.across, planes, across);
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (Index i = met.first; i < met.last; ++i) {
        between.clear();
        for_neighbours(sheet.across.at(i), across, [&](Index j, float weight) {
          between.add(weight, columns.data() + (sheet.along_x ? j * nx + i : i * nx + j) * slices);
        });
        interpolate(between, slices_at(n, sheet.depth.at(i)), sheet.step, rows, sums.data());
      }
      store_bin(n, v, bin, sums.data(), alpha, beta, projections);
    }
  });
}

/// One column of voxels: all views, in their order.
void joseph_column(const ConeFrame& n, const ConeViews& views, Index ix, Index iy, const float* columns,
                   Index bins, Index rows, Column& sums) {
  sums.clear();
  for (std::size_t v = 0; v < views.views.size(); ++v) {
    const Range about = bins_about(n, views.views[v], ix, iy, bins);
    for (Index bin = about.first; bin < about.last; ++bin) {
      const Sheet sheet = sheet_of(n, views.views[v], bin);
      const Index plane = sheet.along_x ? ix : iy;
      const float weight = hat(sheet.across.at(plane), sheet.along_x ? iy : ix);
      if (weight > 0)
        spread(columns + (v * bins + bin) * rows, slices_at(n, sheet.depth.at(plane)),
               weight * static_cast<float>(sheet.step), rows, sums);
    }
  }
}

void joseph_backward(const ConeViews& views, const Execution&, float alpha, Image<const float> projections,
                     float beta, Image<float> volume, Stream&) {
  note_launch("joseph backward");
  const ConeFrame& n = views;
  const Array columns = turned(n, projections);
  parallel_for(volume.n1, [&](Index iy) {
    Column sums(volume.n0);
    for (Index ix = 0; ix < volume.n2; ++ix) {
      joseph_column(n, views, ix, iy, columns.data(), projections.n2, projections.n1, sums);
      for (Index iz = 0; iz < volume.n0; ++iz) update(volume(iz, iy, ix), alpha * sums[iz], beta);
    }
  });
}

// ---- pixel_driven

void pixel_driven_forward(const ConeViews& views, const Execution&, float alpha, Image<const float> volume,
                          float beta, Image<float> projections, Stream&) {
  note_launch("pixel_driven forward");
  const ConeFrame& n = views;
  const Array columns = turned(volume);
  const Index slices = volume.n0, nx = volume.n2, rows = projections.n1, bins = projections.n2;
  parallel_for(projections.n0, [&](Index v) {
    Column shadow(rows);
    std::vector<float> sums(bins * rows);
    for (Index i = 0; i < nx * volume.n1; ++i) {
      const VoxelColumn column = column_of(n, views.views[v], i % nx, i / nx);
      if (!(column.bin > -1 && column.bin < bins)) continue;
      shadow.clear();
      spread(columns.data() + i * slices, column.rows, static_cast<float>(column.weight), slices, shadow);
      for_neighbours(column.bin, bins, [&](Index bin, float weight) {
        for (Index row = 0; row < rows; ++row) sums[bin * rows + row] += weight * shadow[row];
      });
    }
    for (Index bin = 0; bin < bins; ++bin)
      store_bin(n, v, bin, sums.data() + bin * rows, alpha, beta, projections);
  });
}

void pixel_driven_backward(const ConeViews& views, const Execution&, float alpha,
                           Image<const float> projections, float beta, Image<float> volume, Stream&) {
  note_launch("pixel_driven backward");
  const ConeFrame& n = views;
  const Array columns = turned(n, projections);
  const Index slices = volume.n0, rows = projections.n1, bins = projections.n2;
  parallel_for(volume.n1, [&](Index iy) {
    Column between(rows);
    std::vector<float> sums(slices);
    for (Index ix = 0; ix < volume.n2; ++ix) {
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (Index v = 0; v < projections.n0; ++v) {
        const VoxelColumn column = column_of(n, views.views[v], ix, iy);
        if (!(column.bin > -1 && column.bin < bins)) continue;
        between.clear();
        for_neighbours(column.bin, bins, [&](Index bin, float weight) {
          between.add(weight, columns.data() + (v * bins + bin) * rows);
        });
        interpolate(between, column.rows, column.weight, slices, sums.data());
      }
      for (Index iz = 0; iz < slices; ++iz) update(volume(iz, iy, ix), alpha * sums[iz], beta);
    }
  });
}

/// The data that are read lie in a turned copy, and each thread sums up one view.
WorkingMemory working_memory(Precision, Shape volume, Shape projections, Device) {
  const auto bytes = [](double count) { return sizeof(float) * count; };
  const double view = bytes(projections[1] * projections[2]);
  return {bytes(volume[0] * volume[1] * volume[2]) + thread_count() * view, projections[0] * view};
}

}  // namespace

namespace cone_variants {

ConeVariant joseph() {
  return {.name = "joseph",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = joseph_forward,
          .backward = joseph_backward,
          .working_memory = working_memory,
          .kernels = [](Device) {
            return std::vector<std::string>{"joseph forward", "joseph backward"};
          }};
}

ConeVariant pixel_driven() {
  return {.name = "pixel_driven",
          .grades = {{Precision::float32, true, bounds::rounding}},
          .forward = pixel_driven_forward,
          .backward = pixel_driven_backward,
          .working_memory = working_memory,
          .kernels = [](Device) {
            return std::vector<std::string>{"pixel_driven forward", "pixel_driven backward"};
          }};
}

}  // namespace cone_variants

}  // namespace tandem::kernels::cpu
