#include "tandem/pipeline/preprocess.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "tandem/core/error.hpp"
#include "tandem/core/parallel.hpp"

namespace tandem::pipeline {

namespace {

constexpr float least_transmission = 1e-6f;

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

struct BinnedRow {
  Index not_finite = 0;
  bool lost = false;  ///< whether a whole row of it was not finite
};

/// Mean of 2^level x 2^level cells of one frame into binned row `row`.
template <class T>
BinnedRow binned_row(const T* frame, Index bins, Index row, int level, float* scratch, float* out) {
  const Index factor = Index{1} << level, binned = bins / factor;
  BinnedRow met;
  float* line = factor == 1 ? out : scratch;
  if (factor > 1) std::fill_n(out, binned, 0.0f);
  for (Index r = 0; r < factor; ++r) {
    const Index bad = good_row(frame + (row * factor + r) * bins, bins, line);
    met.not_finite += bad;
    met.lost = met.lost || bad == bins;
    if (factor > 1)
      for (Index b = 0; b < binned; ++b)
        out[b] += std::accumulate(line + b * factor, line + (b + 1) * factor, 0.0f);
  }
  const float share = 1.0f / static_cast<float>(factor * factor);
  if (factor > 1)
    for (Index b = 0; b < binned; ++b) out[b] *= share;
  return met;
}

/// Mean over frames of the binned rows; adds up the pixels that were not finite.
std::vector<float> mean_frame(const io::Frames& frames, int level, Index& not_finite) {
  const Index factor = Index{1} << level, rows = frames.shape[1] / factor, bins = frames.shape[2];
  const Index binned = bins / factor;
  std::vector<float> mean(static_cast<std::size_t>(rows * binned));
  std::atomic<Index> bad = 0;
  with_pixels(frames, [&](const auto* pixels) {
    parallel_for(rows, [&](Index row) {
      std::vector<double> sum(static_cast<std::size_t>(binned), 0.0);
      std::vector<float> scratch(static_cast<std::size_t>(bins)), line(static_cast<std::size_t>(binned));
      for (Index f = 0; f < frames.shape[0]; ++f) {
        const auto* frame = pixels + f * frames.shape[1] * bins;
        bad += binned_row(frame, bins, row, level, scratch.data(), line.data()).not_finite;
        for (Index b = 0; b < binned; ++b) sum[b] += line[b];
      }
      for (Index b = 0; b < binned; ++b)
        mean[row * binned + b] = static_cast<float>(sum[b] / static_cast<double>(frames.shape[0]));
    });
  });
  not_finite += bad;
  return mean;
}

struct RowOutcome {
  Index floored = 0;
  double variance = 0;
};

/// Divides a row by the mean of its own air, darks taken off before. Returns what one count became.
float divide_by_air(float* y, Index bins, const float* dark, Range air) {
  for (Index b = 0; b < bins; ++b) y[b] -= dark[b];
  const double mean = std::accumulate(y + air.first, y + air.last, 0.0) / static_cast<double>(air.size());
  const float one_count = mean > 0 ? static_cast<float>(1 / mean) : 0.0f;
  for (Index b = 0; b < bins; ++b) y[b] *= one_count;
  return one_count;
}

/// Counts of one binned row to line integrals (or to transmissions), in place. `smallest`: half a count, or
/// 0.
RowOutcome normalise(float* y, const Reference& reference, Index row, const Preprocessing& how,
                     float smallest) {
  const double photons_a_count = static_cast<double>(Index{1} << (2 * how.binning)) / how.gain;
  const std::size_t first = static_cast<std::size_t>(row * reference.bins);
  const float* dark = &reference.dark[first];
  const float* span = &reference.span[first];
  const float* flat_variance = &reference.flat_variance[first];
  const Index bins = reference.bins;
  RowOutcome outcome;
  if (how.air_bins)
    smallest *= divide_by_air(y, bins, dark, *how.air_bins);
  else
    for (Index b = 0; b < bins; ++b)
      y[b] = (y[b] - dark[b]) / span[b];  // of a dead cell anything: it is replaced below
  if (how.minus_log) {
    for (Index b = 0; b < bins; ++b) {
      const float floor = std::max(least_transmission, smallest / span[b]);
      outcome.floored += y[b] < floor && span[b] > 0;
      y[b] = std::max(y[b], floor);
    }
    for (Index b = 0; how.noise && b < bins; ++b)
      if (span[b] > 0)
        outcome.variance += 1 / (static_cast<double>(y[b]) * span[b] * photons_a_count) + flat_variance[b];
    for (Index b = 0; b < bins; ++b) y[b] = -std::log(y[b]);
  }
  if (reference.dead > 0)
    interpolate(
        y, reference.bins, [span](Index b) { return span[b] == 0; }, 0.0f);
  return outcome;
}

/// Rows without a finite pixel become the mean of the same row in the nearest good views.
void replace_lost(Image<float> y, const std::vector<char>& lost) {
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
      if (before < 0 || before >= y.n0) continue;  // not one good view: refused by their number
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
  require<FileError>(info.flats == 0 || !how.air_bins, "--air-columns: the scan has ", info.flats,
                     " flats, which say more; leave the option out");
  require<FileError>(
      !needs_counts || (how.minus_log && info.flats > 0),
      "--stop discrepancy: the noise follows from counts and flats, which this scan does not have; "
      "use --iterations or --stop relative=EPS");
}

Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how) {
  const io::ScanInfo& info = reader.info();
  const Index factor = Index{1} << how.binning;
  Reference ref;
  ref.rows = rows.size() / factor;
  ref.bins = bins.size() / factor;
  const auto cells = static_cast<std::size_t>(ref.rows * ref.bins);
  ref.dark.assign(cells, 0.0f);
  ref.span.assign(cells, 1.0f);
  ref.flat_variance.assign(cells, 0.0f);
  if (info.darks > 0)
    ref.dark = mean_frame(reader.read(io::FrameKind::dark, {0, info.darks}, rows, bins), how.binning,
                          ref.not_finite);
  if (info.flats == 0) return ref;
  ref.span =
      mean_frame(reader.read(io::FrameKind::flat, {0, info.flats}, rows, bins), how.binning, ref.not_finite);
  const double counts_to_photons = static_cast<double>(factor * factor) / how.gain;
  for (std::size_t i = 0; i < cells; ++i) {
    ref.span[i] -= ref.dark[i];
    if (ref.span[i] > 0 && std::isfinite(ref.span[i])) {
      ref.flat_variance[i] =
          static_cast<float>(1 / (ref.span[i] * counts_to_photons * static_cast<double>(info.flats)));
    } else {
      ref.span[i] = 0;
      ++ref.dead;
    }
  }
  return ref;
}

LineIntegrals preprocess(const io::Frames& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings) {
  LineIntegrals result{Array(space), std::vector<double>(static_cast<std::size_t>(reference.rows), 0.0)};
  const Index views = counts.shape[0], raw_bins = counts.shape[2], bins = reference.bins,
              rows = reference.rows;
  require<SpaceError>(space.shape() == Shape{views, rows, bins}, "preprocess: ", views, " x ", rows, " x ",
                      bins, " data for a space of ", space.size(), " elements");
  const float half = counts.type == io::PixelType::float32 ? 0.0f : 0.5f;
  std::atomic<Index> not_finite = 0, floored = 0;
  std::vector<double> variance(static_cast<std::size_t>(views * rows), 0.0);
  std::vector<char> lost(variance.size(), 0);
  with_pixels(counts, [&](const auto* pixels) {
    parallel_for(views, [&](Index view) {
      std::vector<float> scratch(static_cast<std::size_t>(raw_bins));
      const auto* frame = pixels + view * counts.shape[1] * raw_bins;
      for (Index row = 0; row < rows; ++row) {
        float* y = result.y.data() + (view * rows + row) * bins;
        const BinnedRow met = binned_row(frame, raw_bins, row, how.binning, scratch.data(), y);
        const RowOutcome outcome = normalise(y, reference, row, how, half);
        lost[static_cast<std::size_t>(view * rows + row)] = met.lost;
        not_finite += met.not_finite;
        floored += outcome.floored;
        variance[static_cast<std::size_t>(view * rows + row)] = outcome.variance;
      }
    });
  });
  if (not_finite > 0) replace_lost(image(View(result.y)), lost);
  for (Index view = 0; view < views; ++view)
    for (Index row = 0; row < rows; ++row)
      result.noise_norms[static_cast<std::size_t>(row)] +=
          variance[static_cast<std::size_t>(view * rows + row)];
  for (double& n : result.noise_norms) n = std::sqrt(n);
  findings.not_finite += not_finite + reference.not_finite;
  findings.floored += floored;
  findings.dead += reference.dead;
  return result;
}

}  // namespace tandem::pipeline
