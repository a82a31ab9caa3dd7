#include "margin_rows.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/error.hpp"
#include "../../counts/pixels.hpp"
#include "../../counts/steps/step.hpp"
#include "chunks_due.hpp"
#include "make_job.hpp"

namespace tandem::pipeline {

namespace {

/// The steps that can tell from a row alone whether it is usable.
std::span<const Step> steps_on_rows() {
  static const std::vector<Step> some = [] {
    std::vector<Step> all(steps().begin(), steps().end());
    std::erase_if(all, [](const Step& step) { return !step.on_row; });
    return all;
  }();
  return some;
}

/// Whether each row of a frame has a finite pixel.
bool has_pixels(const io::FramesView& frame) {
  return with_pixels(frame, [&](const auto* pixels) {
    for (Index row = 0; row < frame.shape[1]; ++row) {
      const auto* first = pixels + row * frame.row_step;
      if (std::none_of(first, first + frame.shape[2],
                       [](auto p) { return std::isfinite(static_cast<float>(p)); }))
        return false;
    }
    return true;
  });
}

/// Whether all rows have finite pixels in one of the views. @throws FileError or GeometryError if the rows
/// are not usable
bool are_seen(io::ScanReader& reader, Preprocessing how, const MarginRows& of, Range rows) {
  how.table = steps_on_rows;
  how.noise = how.weights = false;
  const Reference reference = read_reference(reader, rows, of.bins, how);
  for (Index view = of.views.first; view < of.views.last; ++view) {
    const io::Frames frame = reader.read(io::FrameKind::projection, {view, view + 1}, rows, of.bins);
    if (!has_pixels(frame)) continue;
    Findings unheeded;
    preprocess(frame, reference, how, Space({1, reference.rows, reference.bins}, Blocks::rows), unheeded);
    return true;
  }
  return of.views.size() == 0;
}

bool are_good(io::ScanReader& reader, const Preprocessing& how, const MarginRows& of, Range rows) {
  try {
    return are_seen(reader, how, of, rows);
  } catch (const FileError&) {  // no cell is good, or nothing finite comes out
    return false;
  } catch (const GeometryError&) {
    return false;
  }
}

/// The number of good rows before the first bad one, at most `most`. `rows_of(a, b)` are the rows of the file
/// from the a-th to the b-th one.
template <class Rows, class Good>
Index count_good(Index most, const Rows& rows_of, const Good& good) {
  if (most == 0 || good(rows_of(0, most))) return most;
  Index count = 0;
  while (count < most && good(rows_of(count, count + 1))) ++count;
  return count;
}

}  // namespace

Range with_good_margins(io::ScanReader& reader, const Preprocessing& how, const MarginRows& rows) {
  const Index factor = how.rows_together > 0 ? how.rows_together : Index{1} << how.binning;
  const Index first = rows.selected.first, last = rows.selected.last;
  const auto above = [&](Index from, Index to) { return Range{first - to * factor, first - from * factor}; };
  const auto below = [&](Index from, Index to) { return Range{last + from * factor, last + to * factor}; };
  const auto good = [&](Range some) { return are_good(reader, how, rows, some); };
  return {first - factor * count_good((first - rows.wanted.first) / factor, above, good),
          last + factor * count_good((rows.wanted.last - last) / factor, below, good)};
}

namespace {

Range both(Range a, Range b) { return {std::max(a.first, b.first), std::min(a.last, b.last)}; }

/// Leaves a job these rows of the file.
void keep_rows(Job& job, Range rows) {
  if (rows == job.rows) return;
  const Index factor = job.rows_together;
  const Range kept{(rows.first - job.rows.first) / factor, (rows.last - job.rows.first) / factor};
  job.scan = crop(job.scan, {0, views_of(job.scan)}, kept, {0, detector_of(job.scan).bins});
  job.rows = rows;
  job.filtered = rows_after_filter(job);
}

}  // namespace

void end_margins_at_bad_rows(io::ScanReader& reader, Job& job) {
  const Range views = job.options.follow ? Range{0, 0} : job.views;
  const RowsRead all = rows_around(job, {0, job.rows.size() / job.rows_together});
  const Range asked = both(job.rows, job.rows_asked), own = asked.size() > 0 ? asked : job.rows;
  const Range good = with_good_margins(reader, job.preprocessing, {own, all.rows, job.bins, views});
  if (good.first > all.rows.first) job.rows_there.first = good.first;
  if (good.last < all.rows.last) job.rows_there.last = good.last;
  keep_rows(job, both(job.rows, good));
}

}  // namespace tandem::pipeline
