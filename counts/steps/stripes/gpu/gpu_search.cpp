#include "../../../../core/parallel.hpp"
#include "../../../../kernels/column_spreads.hpp"
#include "../automatic/search.hpp"
#include "gpu_columns.hpp"
#include "gpu_sinograms.hpp"

namespace tandem::pipeline::stripes {

namespace {

/// Some rows of data on a GPU (view, row, bin), and their columns.
class Search {
 public:
  Search(GpuData& data, Range rows, float* columns, const Preprocessing& how)
      : stream_(data.stream),
        spread_(*kernels::column_spreads(stream_.device())),
        first_row_(rows.first),
        y_(rows_of(data.y, rows)),
        shape_{rows.size(), data.y.n2, data.y.n0},
        columns_(columns),
        transmissions_(how.minus_log),
        axis_(how.axis),
        found_(rows.size()) {}

  void look_and_remove() {
    interpolate_useless();
    gather();
    if (transmissions_) spread_.logarithms(least_transmission, shape_, columns_, stream_);
    const std::vector<BlockMedians> of_blocks = block_medians();
    find_all_wide();
    find_all_faint();
    parallel_for(of_blocks.size(), [&](Index row) { find_soft(found(row), of_blocks[row], axis_); });
    take_out();
  }

  void note(Range heeded, Notes& notes) const {
    for (Index row = 0; row < shape_.rows; ++row)
      if (const Index of_all = first_row_ + row; heeded.first <= of_all && of_all < heeded.last)
        found_[row].note(notes);
  }

 private:
  void gather() { kernels::columns(stream_.device())->gather(read_only(y_), 0, shape_, columns_, stream_); }

  ColumnSpreads spreads(const ColumnSum& sum, Index rank) const {
    return spread_.spreads(columns_, shape_, sum, rank, stream_);
  }

  FoundStripes& found(Index row) { return found_[row]; }

  /// The numbers of one row, out of those of all rows.
  std::span<const float> row_of(const std::vector<float>& all, Index row) const {
    const std::size_t bins = all.size() / found_.size();
    return std::span(all).subspan(row * bins, bins);
  }

  /// The numbers of all rows, (row, bin).
  template <class Numbers>
  auto of_all(const Numbers& numbers) const {
    std::decay_t<std::invoke_result_t<Numbers, const FoundStripes&>> all;
    for (const FoundStripes& row : found_) {
      const auto& own = std::invoke(numbers, row);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  void interpolate_useless() {
    gather();
    const std::vector<float> changes =
        kernels::columns(stream_.device())->fluctuations(read_only(y_), stream_);
    const ColumnSpreads beside = spreads(beside_others(), deviation_rank(shape_.views));
    const std::vector<Index> counts = interpolate_columns(
        y_, [&](Index row) { return useless_columns(row_of(changes, row), row_of(beside.distances, row)); },
        stream_);
    for (Index row = 0; row < shape_.rows; ++row) found(row).dead = counts[row];
  }

  void find_all_wide() {
    const std::vector<float> jumps = spreads(differences(1), shape_.views / 2).medians;
    for (Index row = 0; row < shape_.rows; ++row)
      find_wide(
          found(row), row_of(jumps, row), [&](Range bins) { return brought(row, bins); }, axis_);
    if (std::ranges::any_of(found_, &FoundStripes::wide))
      spread_.subtract(of_all(&FoundStripes::constants), shape_, columns_, stream_);
  }

  void find_all_faint() {
    const ColumnSpreads fourth = spreads(differences(4), shape_.views / 2);
    const std::vector<float> second = spreads(differences(2), shape_.views / 2).medians;
    parallel_for(shape_.rows, [&](Index row) {
      const auto copy_of = [&](const std::vector<float>& all) {
        const std::span<const float> own = row_of(all, row);
        return std::vector<float>(own.begin(), own.end());
      };
      find_faint(found(row), {copy_of(fourth.medians), copy_of(fourth.distances)}, shape_.views,
                 [&] { return copy_of(second); });
    });
  }

  /// The block medians of each row; empty if there are too few views.
  std::vector<BlockMedians> block_medians() const {
    if (shape_.views < fewest_views_of_profiles) return {};
    std::vector<BlockMedians> all(found_.size(), BlockMedians{shape_.bins});
    for (std::size_t s = 0; s < steps_of_profiles.size(); ++s)
      for (std::size_t block = 0; block < view_blocks; ++block) {
        const std::vector<float> medians =
            spread_.medians(columns_, shape_, difference_over(steps_of_profiles[s]),
                            views_of_block(block, shape_.views), stream_);
        for (Index row = 0; row < shape_.rows; ++row) {
          const std::span<const float> own = row_of(medians, row);
          std::vector<float>& of_row = all[row].of_step[s];
          of_row.insert(of_row.end(), own.begin(), own.end());
        }
      }
    return all;
  }

  /// Takes the stripes that were found out of all rows. Other columns keep their bits.
  void take_out() {
    if (std::ranges::none_of(found_, &FoundStripes::is_to_be_taken_out)) return;
    if (transmissions_) return spread_.multiply(of_all(&FoundStripes::factors), y_, stream_);
    kernels::columns(stream_.device())->add(of_all(&FoundStripes::negative), y_, stream_);
  }

  /// Brings columns of a row to the host, and waits for them.
  Plane brought(Index row, Range bins) const {
    Plane some(bins.size(), shape_.views);
    const Index count = some.values.size();
    copy(Image<const float>{columns_ + (row * shape_.bins + bins.first) * shape_.views, 1, 1, count, count,
                            count},
         Image<float>{some.values.data(), 1, 1, count, count, count}, stream_);
    stream_.synchronize();
    return some;
  }

  Stream& stream_;
  const kernels::SpreadKernels& spread_;
  Index first_row_;
  Image<float> y_;
  kernels::ColumnShape shape_;
  float* columns_;
  bool transmissions_;
  std::optional<double> axis_;
  std::vector<FoundStripes> found_;
};

double bytes_of_search(Index views, Index bins) { return double{sizeof(float)} * (views * bins); }

std::optional<Index> look(GpuData& data, const Preprocessing& how) {
  const Image<float>& y = data.y;
  if (y.n0 < fewest_views || y.n2 < fewest_bins) {
    for (Index row = data.heeded().first; row < data.heeded().last; ++row) note_too_few(data.notes);
    return 0;
  }
  if (y.n0 > kernels::columns(data.stream.device())->most_views) return {};
  const Index together = rows_together(y.n1, bytes_of_search(y.n0, y.n2));
  Array columns(Space({together, y.n2, y.n0}, Blocks::whole, data.stream.device()), data.stream);
  for_rows_together(y.n1, together, [&](Range rows) {
    Search search(data, rows, columns.data(), how);
    search.look_and_remove();
    search.note(data.heeded(), data.notes);
  });
  return 0;
}

}  // namespace

GpuWork look_on_gpu(const Preprocessing& how) {
  return [how](GpuData& data) { return look(data, how); };
}

double gpu_bytes_of_look(Shape shape) {
  const auto [views, rows, bins] = shape;
  const double a_row = bytes_of_search(views, bins);
  return a_row * rows_together(rows, a_row);
}

}  // namespace tandem::pipeline::stripes
