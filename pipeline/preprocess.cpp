#include "preprocess.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string>

#include "../core/error.hpp"
#include "../core/parallel.hpp"

namespace tandem::pipeline {

namespace {

/// The floor of transmissions that are no counts any more.
constexpr float least_transmission = 1e-6f;
/// Flats of counts are above this, flats of transmissions are 1 or near it.
constexpr float counts_begin = 2;

/// Calls use(pointer) with the frames' pixels in their own type.
template <class Use>
decltype(auto) with_pixels(const io::Frames& frames, const Use& use) {
  const std::byte* bytes = frames.bytes.data();
  switch (frames.type) {
    case io::PixelType::uint8:
      return use(reinterpret_cast<const std::uint8_t*>(bytes));
    case io::PixelType::uint16:
      return use(reinterpret_cast<const std::uint16_t*>(bytes));
    case io::PixelType::uint32:
      return use(reinterpret_cast<const std::uint32_t*>(bytes));
    case io::PixelType::float32:
      break;
  }
  return use(reinterpret_cast<const float*>(bytes));
}

/// Replaces what `bad` says of a row by linear interpolation between the nearest good bins, by the nearest
/// one at the ends; a row without a good bin becomes `otherwise`.
template <class Bad>
void interpolate(float* row, Index bins, const Bad& bad, float otherwise) {
  Index before = -1;
  for (Index b = 0; b < bins; ++b) {
    if (!bad(b)) {
      before = b;
      continue;
    }
    Index after = b + 1;
    while (after < bins && bad(after)) ++after;
    for (Index k = b; k < after; ++k) {
      const float t = static_cast<float>(k - before) / static_cast<float>(after - before);
      row[k] = before >= 0 && after < bins ? row[before] + t * (row[after] - row[before])
               : before >= 0               ? row[before]
               : after < bins              ? row[after]
                                           : otherwise;
    }
    b = after - 1;
  }
}

/// One row of counts as floats with its non-finite pixels replaced; how many there were.
template <class T>
Index good_row(const T* from, Index bins, float* row) {
  std::copy_n(from, bins, row);
  if constexpr (std::is_floating_point_v<T>) {
    const auto bad = [from](Index b) { return !std::isfinite(from[b]); };
    Index count = 0;
    for (Index b = 0; b < bins; ++b) count += bad(b);
    if (count > 0) interpolate(row, bins, bad, 0.0f);
    return count;
  } else {
    return 0;
  }
}

/// Rows and bins that become one.
struct Binning {
  Index rows, bins;
  Binning(Index of_rows, int level) : rows(rows_together(of_rows, level)), bins(Index{1} << level) {}
  double size() const { return static_cast<double>(rows * bins); }
};

struct BinnedRow {
  Index not_finite = 0;
  bool lost = false;  ///< whether a whole row of it was not finite
};

/// Mean of 2^level x 2^level cells of one frame into binned row `row`, of one row alone of 1 x 2^level.
template <class T>
BinnedRow binned_row(const T* frame, Index bins, Index row, Binning cells, float* scratch, float* out) {
  const Index factor = cells.bins, binned = bins / factor;
  BinnedRow met;
  float* line = factor == 1 ? out : scratch;
  if (factor > 1) std::fill_n(out, binned, 0.0f);
  for (Index r = 0; r < cells.rows; ++r) {
    const Index bad = good_row(frame + (row * cells.rows + r) * bins, bins, line);
    met.not_finite += bad;
    met.lost = met.lost || bad == bins;
    if (factor > 1)
      for (Index b = 0; b < binned; ++b)
        out[b] += std::accumulate(line + b * factor, line + (b + 1) * factor, 0.0f);
  }
  const float share = 1.0f / static_cast<float>(cells.rows * factor);
  if (factor > 1)
    for (Index b = 0; b < binned; ++b) out[b] *= share;
  return met;
}

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

/// What the beam itself did in one view of one row: 1 where nobody looks.
struct Air {
  double mean = 1;      ///< transmission of the air columns, in counts without flats
  double variance = 0;  ///< of its log
};

/// Of the good cells among the air columns.
Air air_of(const float* y, const float* span, Range bins, double photons_a_count) {
  double sum = 0, variance = 0;
  Index good = 0;
  for (Index b = bins.first; b < bins.last; ++b)
    if (span[b] > 0) sum += y[b], variance += std::max(0.0f, y[b]) / (span[b] * photons_a_count), ++good;
  require<FileError>(sum > 0, "--air-columns: the mean of their ", good,
                     " good cells is not above the dark in every view; choose columns that see no sample");
  return {sum / static_cast<double>(good), variance / (sum * sum)};
}

/// Counts of one binned row to line integrals (or to transmissions), in place. The noise is that of some
/// bins.
RowFindings normalise(float* y, const Reference& reference, Index row, const Preprocessing& how,
                      double photons_a_count, Range counted) {
  const std::size_t first = static_cast<std::size_t>(row * reference.bins);
  const float* dark = &reference.dark[first];
  const float* span = &reference.span[first];
  const float* flat_variance = &reference.flat_variance[first];
  const Index bins = reference.bins;
  RowFindings outcome;
  for (Index b = 0; b < bins; ++b)
    y[b] = (y[b] - dark[b]) / span[b];  // of a dead cell anything: it is replaced below
  Air air;
  if (how.air_bins) {
    air = air_of(y, span, *how.air_bins, photons_a_count);
    for (Index b = 0; b < bins; ++b) y[b] = static_cast<float>(y[b] / air.mean);
  }
  const bool counts =
      reference.flats ? reference.counts[static_cast<std::size_t>(row)] != 0 : air.mean > counts_begin;
  for (Index b = 0; how.minus_log && b < bins; ++b) {
    if (span[b] == 0) continue;
    const double one_count = 1 / (span[b] * air.mean);  // as a transmission
    const float floor = counts ? static_cast<float>(0.5 * one_count) : least_transmission;
    outcome.lowest_floor = std::min(outcome.lowest_floor, floor);
    outcome.highest_floor = std::max(outcome.highest_floor, floor);
    outcome.floored += y[b] < floor;
    y[b] = std::max(y[b], floor);
    if (how.noise && counted.first <= b && b < counted.last)
      outcome.variance += one_count / (y[b] * photons_a_count) + flat_variance[b] + air.variance;
    y[b] = -std::log(y[b]);
  }
  if (reference.dead > 0)
    interpolate(
        y, bins, [span](Index b) { return span[b] == 0; }, 0.0f);
  outcome.finite = std::all_of(y, y + bins, [](float v) { return std::isfinite(v); });
  return outcome;
}

/// Rows without a finite pixel become the mean of the same row in the nearest good views.
/// @throws FileError for a row that is lost in all
void replace_lost(Image<float> y, const std::vector<char>& lost, const Reference& reference) {
  const auto is_lost = [&](Index view, Index row) {
    return lost[static_cast<std::size_t>(view * y.n1 + row)] != 0;
  };
  for (Index row = 0; row < y.n1; ++row)
    for (Index view = 0; view < y.n0; ++view) {
      if (!is_lost(view, row)) continue;
      Index before = view - 1, after = view + 1;
      while (before >= 0 && is_lost(before, row)) --before;
      while (after < y.n0 && is_lost(after, row)) ++after;
      if (before < 0) before = after;
      if (after >= y.n0) after = before;
      require<FileError>(before >= 0 && before < y.n0, "projections: row ", reference.file_row(row),
                         " has no finite pixel in any view; leave it out by --start-row and --end-row");
      for (Index b = 0; b < y.n2; ++b) y(view, row, b) = 0.5f * (y(before, row, b) + y(after, row, b));
    }
}

}  // namespace

std::optional<Range> air_within(const std::optional<Range>& air, Range bins, int binning) {
  if (!air) return {};
  const Index factor = Index{1} << binning;
  const Range within{(air->first - bins.first + factor - 1) / factor, (air->last - bins.first) / factor};
  require<GeometryError>(bins.first <= air->first && air->last <= bins.last && within.size() > 0,
                         "--air-columns ", air->first, ":", air->last, ": empty, or outside the columns ",
                         bins.first, ":", bins.last, " that are read; give columns that see no sample");
  return within;
}

void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts) {
  require<FileError>(
      info.flats > 0 || how.air_bins || !how.minus_log, "the scan has 0 flats",
      info.format == "TIFF sinogram" ? " (a lone sinogram)" : "",
      "; give --flats FILE, --air-columns A:B, or --minus-log false where it holds line integrals");
  require<FileError>(
      !needs_counts || (how.minus_log && info.flats > 0),
      "--stop discrepancy: the noise follows from counts and flats, which this scan does not have; "
      "use --iterations or --stop relative=EPS");
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
  const double photons = cell.size() / how.gain * static_cast<double>(info.flats);  // a count, in all flats
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
  return ref;
}

void Findings::add(const RowFindings& row) {
  not_finite += row.not_finite;
  floored += row.floored;
  lowest_floor = std::min(lowest_floor, row.lowest_floor);
  highest_floor = std::max(highest_floor, row.highest_floor);
}

LineIntegrals preprocess(const io::Frames& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted) {
  LineIntegrals result{Array(space), std::vector<double>(static_cast<std::size_t>(reference.rows), 0.0)};
  const Index views = counts.shape[0], raw_bins = counts.shape[2], bins = reference.bins,
              rows = reference.rows;
  require<SpaceError>(space.shape() == Shape{views, rows, bins}, "preprocess: ", views, " x ", rows, " x ",
                      bins, " data for a space of ", space.size(), " elements");
  const Binning cell(counts.shape[1], how.binning);
  std::vector<RowFindings> met(static_cast<std::size_t>(views * rows));
  std::vector<char> lost(met.size(), 0);
  with_pixels(counts, [&](const auto* pixels) {
    parallel_for(views, [&](Index view) {
      std::vector<float> scratch(static_cast<std::size_t>(raw_bins));
      const auto* frame = pixels + view * counts.shape[1] * raw_bins;
      for (Index row = 0; row < rows; ++row) {
        const auto at = static_cast<std::size_t>(view * rows + row);
        float* y = result.y.data() + (view * rows + row) * bins;
        const BinnedRow binned = binned_row(frame, raw_bins, row, cell, scratch.data(), y);
        lost[at] = binned.lost;
        if (!binned.lost)
          met[at] = normalise(y, reference, row, how, cell.size() / how.gain,
                              counted.empty() ? Range{0, bins} : counted[static_cast<std::size_t>(row)]);
        met[at].not_finite = binned.not_finite;
        require<FileError>(
            met[at].finite, "projections: view ", view, ", row ", reference.file_row(row),
            ": a line integral is not finite; its flat is hardly above its dark, or its counts "
            "are beyond 3e38");
      }
    });
  });
  if (std::count(lost.begin(), lost.end(), 0) < views * rows)
    replace_lost(image(VectorView(result.y)), lost, reference);
  for (std::size_t i = 0; i < met.size(); ++i) {
    findings.add(met[i]);
    result.noise_norms[i % static_cast<std::size_t>(rows)] += met[i].variance;
  }
  for (double& n : result.noise_norms) n = std::sqrt(n);
  findings.reference_not_finite += reference.not_finite;
  findings.dead += reference.dead;
  return result;
}

}  // namespace tandem::pipeline
