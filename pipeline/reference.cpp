#include "reference.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <string>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "pixels.hpp"
#include "preprocess.hpp"

namespace tandem::pipeline {

namespace {

/// Mean over those of the frames where a pixel is finite, then over the pixels that become one cell: NaN if
/// one of them is finite in no frame. Adds up the pixels that were left out.
std::vector<float> mean_frame(const io::Frames& frames, int level, Index& left_out) {
  const auto [count, all_rows, bins] = frames.shape;
  const Binning cell(all_rows, level);
  const Index rows = all_rows / cell.rows, binned = bins / cell.bins;
  std::vector<float> mean(static_cast<std::size_t>(rows * binned));
  std::atomic<Index> bad = 0;
  with_pixels(frames, [&, count = count, all_rows = all_rows, bins = bins](const auto* pixels) {
    parallel_for(rows, [&](Index row) {
      std::vector<double> total(static_cast<std::size_t>(binned), 0.0);
      for (Index r = row * cell.rows; r < (row + 1) * cell.rows; ++r)
        for (Index b = 0; b < binned * cell.bins; ++b) {
          double sum = 0;
          Index good = 0;
          for (Index f = 0; f < count; ++f)
            if (const auto value = static_cast<double>(pixels[(f * all_rows + r) * bins + b]);
                std::isfinite(value))
              sum += value, ++good;
          bad += count - good;
          total[static_cast<std::size_t>(b / cell.bins)] += sum / static_cast<double>(good);
        }
      for (Index b = 0; b < binned; ++b)
        mean[row * binned + b] = static_cast<float>(total[static_cast<std::size_t>(b)] / cell.size());
    });
  });
  left_out += bad;
  return mean;
}

/// Whether a row's flats are counts: their median is well above 1. @throws FileError if not one cell is good
bool in_counts(const float* span, Index bins, const std::string& where) {
  std::vector<float> good;
  std::copy_if(span, span + bins, std::back_inserter(good), [](float s) { return s > 0; });
  require<FileError>(
      !good.empty(), where,
      ": no cell has a flat above its dark; check --flats and --darks, or leave the row out by "
      "--start-row and --end-row");
  const auto middle = good.begin() + static_cast<std::ptrdiff_t>(good.size() / 2);
  std::nth_element(good.begin(), middle, good.end());
  return *middle > counts_begin;
}

}  // namespace

FloorRange range_of(std::span<const float> floors) {
  FloorRange range;
  for (const float floor : floors)
    if (floor > 0) range.add({floor, floor});
  return range;
}

Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how) {
  const io::ScanInfo& info = reader.info();
  const Binning cell(rows.size(), how.binning);
  Reference ref;
  ref.rows = rows.size() / cell.rows;
  ref.bins = bins.size() / cell.bins;
  ref.first_row = rows.first;
  ref.rows_together = cell.rows;
  ref.flats = info.flats > 0;
  const auto cells = static_cast<std::size_t>(ref.rows * ref.bins);
  ref.dark.assign(cells, 0.0f);
  ref.span.assign(cells, 1.0f);
  ref.flat_variance.assign(cells, 0.0f);
  ref.counts.assign(static_cast<std::size_t>(ref.rows), 0);
  if (info.darks > 0)
    ref.dark = mean_frame(reader.read(io::FrameKind::dark, {0, info.darks}, rows, bins), how.binning,
                          ref.not_finite);
  if (ref.flats)
    ref.span = mean_frame(reader.read(io::FrameKind::flat, {0, info.flats}, rows, bins), how.binning,
                          ref.not_finite);
  ref.photons_a_count = cell.size() / how.gain;
  const double photons = ref.photons_a_count * static_cast<double>(info.flats);  // a count, in all flats
  for (std::size_t i = 0; i < cells; ++i) {
    if (ref.flats) ref.span[i] -= ref.dark[i];
    const bool good = ref.span[i] > 0 && std::isfinite(ref.span[i]) && std::isfinite(ref.dark[i]);
    if (good && ref.flats) ref.flat_variance[i] = static_cast<float>(1 / (ref.span[i] * photons));
    if (!good) ref.span[i] = ref.dark[i] = 0, ++ref.dead;
  }
  for (Index row = 0; row < ref.rows; ++row)
    ref.counts[static_cast<std::size_t>(row)] =
        in_counts(&ref.span[static_cast<std::size_t>(row * ref.bins)], ref.bins,
                  "references: row " + std::to_string(ref.file_row(row)));
  ref.floor.assign(cells, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < cells; ++i)
    if (ref.span[i] != 0)
      ref.floor[i] =
          transmission_floor(ref.span[i], 1, ref.counts[i / static_cast<std::size_t>(ref.bins)] != 0);
  for (Index row = 0; row < ref.rows; ++row) ref.floor_range.push_back(range_of(ref.row_of(ref.floor, row)));
  return ref;
}

}  // namespace tandem::pipeline
