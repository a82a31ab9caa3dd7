#include "gpu_columns.hpp"

#include <algorithm>

#include "../../../../core/parallel.hpp"
#include "../../../../kernels/columns.hpp"
#include "../../../../kernels/waves.hpp"
#include "../../interpolate.hpp"
#include "gpu_sinograms.hpp"

namespace tandem::pipeline::stripes {

namespace {

constexpr double bytes_a_value = 3 * sizeof(float) + sizeof(std::uint16_t);

/// The bytes that `how` holds for a row.
double bytes_a_row(const GpuColumns& how, Index views, Index bins) {
  const double values = views * bins;
  if (!how.slow_sigma) return bytes_a_value * values;
  return (bytes_a_value + sizeof(float)) * values +
         kernels::wave_bytes(slow_waves(views, *how.slow_sigma), bins);
}

/// The columns of some rows, in the order of their views and of their values.
class Columns {
 public:
  Columns(kernels::ColumnShape most, Stream& stream)
      : stream_(stream),
        kernels_(*kernels::columns(stream.device())),
        values_(space_of(most.size()), stream),
        sorted_(space_of(most.size()), stream),
        medians_(space_of(most.size()), stream),
        order_(space_of((most.size() + 1) / 2), stream) {}

  void gather(const Image<float>& y, Range rows) {
    first_row_ = rows.first, shape_ = {rows.size(), y.n2, y.n0};
    kernels_.gather(read_only(y), first_row_, shape_, values_.data(), stream_);
  }
  void scatter(const Image<float>& y) { kernels_.scatter(values_.data(), first_row_, shape_, y, stream_); }
  void remove_large(const LargeStripes& how) {
    sort(how.size, 1);
    const std::vector<double> factors =
        kernels_.factors(sorted_.data(), medians_.data(), shape_, heeded_ranks(how, shape_.views), stream_);
    std::vector<char> marks(factors.size());
    parallel_for(shape_.rows, [&](Index row) {
      const std::span own(&factors[row * shape_.bins], shape_.bins);
      std::ranges::copy(dilated(outstanding(own, how.snr)), marks.begin() + row * shape_.bins);
    });
    kernels_.replace({factors, marks, how.norm}, medians_.data(), order(), shape_, values_.data(), stream_);
  }
  void smooth(const Sorting& how) {
    sort(how.size, how.squares ? how.size : 1);
    kernels_.unsort(medians_.data(), order(), shape_, values_.data(), stream_);
  }

 private:
  Space space_of(Index floats) const { return Space({1, 1, floats}, Blocks::whole, stream_.device()); }
  std::uint16_t* order() { return reinterpret_cast<std::uint16_t*>(order_.data()); }
  void sort(Index bins, Index ranks) {
    kernels_.sort(values_.data(), shape_, sorted_.data(), order(), stream_);
    kernels_.medians(sorted_.data(), shape_, bins, ranks, medians_.data(), stream_);
  }

  Stream& stream_;
  const kernels::ColumnKernels& kernels_;
  Array values_, sorted_, medians_, order_;
  Index first_row_ = 0;
  kernels::ColumnShape shape_{};
};

void remove_dead(const GpuData& data, const DeadStripes& how) {
  const Image<float>& y = data.y;
  const std::vector<float> changes =
      kernels::columns(data.stream.device())->fluctuations(read_only(y), data.stream);
  interpolate_columns(
      y, [&](Index row) { return dead_columns(std::span(&changes[row * y.n2], y.n2), how); }, data.stream);
}

/// Sorts only what changes slowly over the views; the rest stays.
void smooth_slow(Columns& columns, const GpuData& data, Range rows, const GpuColumns& how) {
  const Image<float> own = sinograms_of(data.y, rows);
  const Device gpu = data.stream.device();
  Array slow(Space({own.n0, own.n1, own.n2}, Blocks::whole, gpu), data.stream);
  kernels::waves(gpu)->take_out(slow_waves(own.n1, *how.slow_sigma), own, slow.data(), data.stream);
  const Image<float> views{slow.data(), own.n1, own.n0, own.n2, own.n2, own.n1 * own.n2};
  columns.gather(views, {0, own.n0});
  columns.smooth(*how.sorting);
  columns.scatter(views);
  kernels::waves(gpu)->put_back(slow.data(), own, data.stream);
}

std::optional<Index> remove(GpuData& data, const GpuColumns& how) {
  const Image<float>& y = data.y;
  if (y.n0 > kernels::columns(data.stream.device())->most_views) return {};
  if (how.dead) remove_dead(data, *how.dead);
  if (!how.large && !how.sorting) return 0;
  const Index together = rows_together(y.n1, bytes_a_row(how, y.n0, y.n2));
  Columns columns({together, y.n2, y.n0}, data.stream);
  for_rows_together(y.n1, together, [&](Range rows) {
    if (how.slow_sigma) return smooth_slow(columns, data, rows, how);
    columns.gather(y, rows);
    if (how.large) columns.remove_large(*how.large);
    if (how.sorting) columns.smooth(*how.sorting);
    columns.scatter(y);
  });
  return 0;
}

}  // namespace

std::vector<Index> interpolate_columns(const Image<float>& y,
                                       const std::function<std::vector<bool>(Index)>& marks_of,
                                       Stream& stream) {
  std::vector<Index> counts(y.n1);
  std::vector<std::vector<kernels::FilledCell>> of_row(counts.size());
  parallel_for(y.n1, [&](Index row) {
    const std::size_t place = row;
    const std::vector<bool> marks = marks_of(row);
    counts[place] = std::ranges::count(marks, true);
    append_filled(
        y.n2, row, [&](Index b) { return marks[b]; }, of_row[place]);
  });
  std::vector<kernels::FilledCell> cells;
  for (const auto& own : of_row) cells.insert(cells.end(), own.begin(), own.end());
  kernels::counts(stream.device())->fill(cells, y, stream);
  return counts;
}

GpuWork on_gpu(const GpuColumns& how) {
  GpuColumns all = how;
  if (how.dead && how.dead->norm) all.large = large_after(*how.dead);
  return [all](GpuData& data) { return remove(data, all); };
}

double gpu_bytes(const GpuColumns& how, Shape shape) {
  const auto [views, rows, bins] = shape;
  const double a_row = bytes_a_row(how, views, bins);
  return rows_together(rows, a_row) * a_row;
}

GpuWork on_gpu(const ColumnChanges& changes) {
  return [changes](GpuData& data) -> std::optional<Index> {
    const Image<float>& y = data.y;
    const kernels::ColumnKernels& kernel = *kernels::columns(data.stream.device());
    std::vector<double> all = kernel.means(read_only(y), data.stream);
    parallel_for(y.n1, [&](Index row) {
      const std::span own(&all[row * y.n2], y.n2);
      std::ranges::copy(changes(own), own.begin());
    });
    kernel.add(all, y, data.stream);
    return 0;
  };
}

}  // namespace tandem::pipeline::stripes
