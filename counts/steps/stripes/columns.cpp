#include "columns.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "../../../core/parallel.hpp"
#include "../../../kernels/ordered.hpp"

namespace tandem::pipeline::stripes {

namespace {

using kernels::key_of;

/// A stable sort by 11 bits at a time, the lowest first.
class ColumnSorter {
 public:
  explicit ColumnSorter(std::size_t count) : keys_(count), other_keys_(count), other_(count) {}

  /// `order` becomes the places of the column's values in ascending order.
  void sort(std::span<const float> column, std::span<std::uint32_t> order) {
    std::array<std::array<std::uint32_t, buckets>, rounds> begins{};
    for (std::size_t i = 0; i < column.size(); ++i) {
      keys_[i] = key_of(column[i]);
      for (std::size_t k = 0; k < rounds; ++k) ++begins[k][digit(keys_[i], k)];
    }
    for (auto& begin : begins) std::exclusive_scan(begin.begin(), begin.end(), begin.begin(), 0u);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t k = 0; k < rounds; ++k) {
      for (std::size_t i = 0; i < column.size(); ++i) {
        const std::uint32_t place = begins[k][digit(keys_[i], k)]++;
        other_keys_[place] = keys_[i];
        other_[place] = order[i];
      }
      std::swap(keys_, other_keys_);
      std::copy(other_.begin(), other_.end(), order.begin());
    }
  }

 private:
  static constexpr std::size_t bits = 11, buckets = 1u << bits, rounds = 3;
  static std::size_t digit(std::uint32_t key, std::size_t round) {
    return (key >> (bits * round)) & (buckets - 1);
  }
  std::vector<std::uint32_t> keys_, other_keys_, other_;
};

/// The median of a window that slides along a line: it keeps its elements in order.
class SlidingMedian {
 public:
  explicit SlidingMedian(std::vector<float> window) : window_(std::move(window)) {
    std::ranges::sort(window_);
  }
  float median() const { return window_[window_.size() / 2]; }
  void replace(float old, float with) {
    auto at = std::ranges::lower_bound(window_, old);
    for (; at + 1 != window_.end() && at[1] < with; ++at) *at = at[1];
    for (; at != window_.begin() && at[-1] > with; --at) *at = at[-1];
    *at = with;
  }

 private:
  std::vector<float> window_;
};

constexpr Index rows_a_task = 64;

}  // namespace

SortedColumns sorted(const Plane& sinogram) {
  const Index views = sinogram.rows, bins = sinogram.columns;
  Plane columns = transposed(sinogram);
  SortedColumns result{Plane(0, 0), std::vector<std::uint32_t>(sinogram.values.size())};
  parallel_for_blocks(bins, rows_a_task, [&](Range some) {
    ColumnSorter sorter(views);
    std::vector<float> column(views);
    for (Index bin = some.first; bin < some.last; ++bin) {
      std::copy_n(columns.row(bin), views, column.begin());
      const std::span order(&result.order[bin * views], column.size());
      sorter.sort(column, order);
      for (std::size_t k = 0; k < column.size(); ++k) columns.row(bin)[k] = column[order[k]];
    }
  });
  result.values = transposed(columns);
  return result;
}

void unsort(const Plane& values, const SortedColumns& sorted, Index bin, Plane& sinogram) {
  const std::uint32_t* order = &sorted.order[bin * sinogram.rows];
  for (Index rank = 0; rank < sinogram.rows; ++rank) sinogram(order[rank], bin) = values(rank, bin);
}

std::vector<float> medians(std::span<const float> line, Index size) {
  const Index n = line.size();
  const auto at = [&](Index k) { return line[reflected(k, n)]; };
  const Index before = size / 2, behind = size - 1 - before;
  std::vector<float> window, result(line.size());
  for (Index k = -before; k <= behind; ++k) window.push_back(at(k));
  SlidingMedian sliding(std::move(window));
  for (Index k = 0; k < n; ++k) {
    result[k] = sliding.median();
    if (k + 1 < n) sliding.replace(at(k - before), at(k + 1 + behind));
  }
  return result;
}

Plane medians_of_rows(const Plane& plane, Index size) {
  Plane result(plane.rows, plane.columns);
  parallel_for_blocks(plane.rows, rows_a_task, [&](Range some) {
    for (Index r = some.first; r < some.last; ++r)
      std::ranges::copy(medians(std::span(plane.row(r), plane.columns), size), result.row(r));
  });
  return result;
}

Plane medians_of_squares(const Plane& plane, Index size) {
  Plane result(plane.rows, plane.columns);
  const Index before = size / 2;
  parallel_for(plane.rows, [&](Index r) {
    std::vector<float> window(size * size);
    const auto middle = window.begin() + size * size / 2;
    for (Index c = 0; c < plane.columns; ++c) {
      for (Index i = 0; i < size; ++i)
        for (Index j = 0; j < size; ++j)
          window[i * size + j] =
              plane(reflected(r - before + i, plane.rows), reflected(c - before + j, plane.columns));
      std::ranges::nth_element(window, middle);
      result(r, c) = *middle;
    }
  });
  return result;
}

void smooth_sorted_columns(Plane& sinogram, const Sorting& how) {
  const SortedColumns columns = sorted(sinogram);
  const Plane smooth =
      how.squares ? medians_of_squares(columns.values, how.size) : medians_of_rows(columns.values, how.size);
  parallel_for_blocks(sinogram.columns, rows_a_task, [&](Range some) {
    for (Index bin = some.first; bin < some.last; ++bin) unsort(smooth, columns, bin, sinogram);
  });
}

std::vector<bool> outstanding(std::span<const double> values, double snr) {
  std::vector<bool> marks(values.size());
  const std::size_t n = values.size(), quarter = n / 4;
  if (n < 8) return marks;
  std::vector<double> descending(values.begin(), values.end());
  std::ranges::sort(descending, std::greater());
  double x = 0, y = 0, xx = 0, xy = 0, count = 0;  // sums over the ranks from a quarter on
  for (std::size_t k = quarter; k + quarter + 1 < n; ++k) {
    const double rank = k;
    x += rank, y += descending[k], xx += rank * rank, xy += rank * descending[k], ++count;
  }
  const double slope = (count * xy - x * y) / (count * xx - x * x), first = (y - slope * x) / count;
  const double last = first + slope * (n - 1);
  const double noise = std::max(std::abs(last - first), 1e-6);
  const bool above = std::abs(descending.front() - first) >= snr * noise,
             below = std::abs(descending.back() - last) >= snr * noise;
  for (std::size_t k = 0; k < n; ++k)
    marks[k] =
        (above && values[k] > first + 0.5 * snr * noise) || (below && values[k] <= last - 0.5 * snr * noise);
  return marks;
}

std::vector<bool> dilated(const std::vector<bool>& marks) {
  std::vector<bool> wide = marks;
  for (std::size_t k = 0; k < marks.size(); ++k)
    if (marks[k]) {
      if (k > 0) wide[k - 1] = true;
      if (k + 1 < marks.size()) wide[k + 1] = true;
    }
  return wide;
}

std::vector<double> means_of_columns(const Plane& sinogram, Range views) {
  std::vector<double> means(sinogram.columns, 0.0);
  for (Index view = views.first; view < views.last; ++view)
    for (Index bin = 0; bin < sinogram.columns; ++bin) means[bin] += sinogram(view, bin);
  for (double& mean : means) mean /= views.size();
  return means;
}

void add_to_columns(Plane& sinogram, Range views, std::span<const double> constants) {
  for (Index view = views.first; view < views.last; ++view)
    for (Index bin = 0; bin < sinogram.columns; ++bin)
      sinogram(view, bin) = static_cast<float>(sinogram(view, bin) + constants[bin]);
}

}  // namespace tandem::pipeline::stripes
