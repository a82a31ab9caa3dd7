#include "reference.hpp"

#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../core/spelled.hpp"
#include "bad_cells.hpp"
#include "pixels.hpp"
#include "preprocess.hpp"
#include "shadows.hpp"
#include "steps/step.hpp"

namespace tandem::pipeline {

namespace {

/// Frames of one kind that become one.
struct Stack {
  const io::Frames& frames;
  Combining how = Combining::mean;
  std::span<const Index> which;        ///< the frames that count
  std::span<const double> scale = {};  ///< factor of each frame of the kind, after the dark is off; empty: 1
  std::span<const float> dark = {};    ///< (row, bin); empty: 0
};

/// A value of a frame at a pixel, less the dark, and scaled.
double corrected(const Stack& stack, double value, Index frame, Index at) {
  const double dark = stack.dark.empty() ? 0 : stack.dark[at];
  return (value - dark) * (stack.scale.empty() ? 1 : stack.scale[frame]);
}

/// The finite values of a pixel in some frames.
template <class Pixel>
void gather(const Stack& stack, const Pixel* pixels, Index at, std::vector<double>& values) {
  const Index frame = stack.frames.shape[1] * stack.frames.shape[2];
  values.clear();
  for (const Index f : stack.which)
    if (const double value = pixels[f * frame + at]; std::isfinite(value))
      values.push_back(corrected(stack, value, f, at));
}

/// The means of a row's pixels, frame by frame. Returns how many values were left out.
template <class Pixel>
Index mean_row(const Stack& stack, const Pixel* pixels, Index row, std::span<float> out) {
  const Index frame = stack.frames.shape[1] * stack.frames.shape[2], bins = stack.frames.shape[2];
  std::vector<double> sum(out.size(), 0.0);
  std::vector<Index> count(out.size(), 0);
  for (const Index f : stack.which) {
    const Pixel* from = pixels + f * frame + row * bins;
    for (std::size_t bin = 0; bin < out.size(); ++bin)
      if (const double value = from[bin]; std::isfinite(value))
        sum[bin] += corrected(stack, value, f, row * bins + bin), ++count[bin];
  }
  for (std::size_t bin = 0; bin < out.size(); ++bin)
    out[bin] = static_cast<float>(sum[bin] / count[bin]);  // NaN if there are none
  const Index all = stack.which.size() * bins;
  return all - std::accumulate(count.begin(), count.end(), Index{0});
}

template <class Pixel>
Index combined_row(const Stack& stack, const Pixel* pixels, Index row, std::span<float> out) {
  if (stack.how == Combining::mean) return mean_row(stack, pixels, row, out);
  const Index bins = out.size();
  Index missing = 0;
  std::vector<double> values;
  for (Index bin = 0; bin < bins; ++bin) {
    gather(stack, pixels, row * bins + bin, values);
    missing += stack.which.size() - values.size();
    out[bin] = static_cast<float>(combined(values, stack.how));
  }
  return missing;
}

/// Combines the frames of each pixel; NaN if it is finite in none of them. Adds the pixels that were left out
/// to the count of their row, of `rows_together` rows.
std::vector<float> combined(const Stack& stack, Reference& ref) {
  const Index rows = stack.frames.shape[1], bins = stack.frames.shape[2];
  std::vector<float> all(rows * bins);
  std::vector<Index> bad(rows, 0);
  with_pixels(stack.frames, [&](const auto* pixels) {
    parallel_for(rows, [&](Index row) {
      bad[row] = combined_row(stack, pixels, row, std::span(all).subspan(row * bins, bins));
    });
  });
  for (Index row = 0; row < ref.rows * ref.rows_together; ++row)
    ref.not_finite[row / ref.rows_together] += bad[row];
  return all;
}

/// Means over the pixels that become one cell.
std::vector<float> binned(std::vector<float> pixels, Index all_rows, Index all_bins, const Binning& cell) {
  if (cell.bins == 1) return pixels;
  const Index rows = all_rows / cell.rows, bins = all_bins / cell.bins;
  std::vector<float> cells(rows * bins);
  parallel_for(rows, [&](Index row) {
    for (Index bin = 0; bin < bins; ++bin) {
      double sum = 0;
      for (Index r = row * cell.rows; r < (row + 1) * cell.rows; ++r)
        for (Index b = bin * cell.bins; b < (bin + 1) * cell.bins; ++b) sum += pixels[r * all_bins + b];
      cells[row * bins + bin] = static_cast<float>(sum / cell.size());
    }
  });
  return cells;
}

/// Whether a row's flats are counts: their median is well above 1. Empty if no cell of the row is good.
std::optional<bool> in_counts(std::span<const float> span) {
  std::vector<float> good;
  std::ranges::copy_if(span, std::back_inserter(good), [](float s) { return s > 0; });
  if (good.empty()) return {};
  const auto middle = good.begin() + good.size() / 2;
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

namespace {

Reference begun(Range rows, Range bins, const Binning& cell, const Preprocessing& how) {
  Reference ref;
  ref.rows = rows.size() / cell.rows;
  ref.bins = bins.size() / cell.bins;
  ref.first_row = rows.first;
  ref.rows_together = cell.rows;
  ref.photons_a_count = cell.size() / how.gain;
  ref.covered = how.covered_bins;
  const std::size_t cells = ref.rows * ref.bins;
  ref.dark.assign(cells, 0.0f);
  ref.counts.assign(ref.rows, 0);
  ref.not_finite.assign(ref.rows, 0);
  ref.replaced.assign(ref.rows, 0);
  ref.sets.assign(1, {std::vector<float>(cells, 1.0f), std::vector<float>(cells, 0.0f), {}, {}});
  return ref;
}

std::vector<Index> all_of(Index count) {
  std::vector<Index> all(count);
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

io::Frames as_numbers(const io::Frames& frames) {
  io::Frames numbers{io::PixelType::float32, frames.shape, {}, frames.first};
  const Index count = frames.shape[0] * frames.shape[1] * frames.shape[2];
  numbers.bytes.resize(count * sizeof(float));
  with_pixels(frames, [&](const auto* pixels) {
    std::copy_n(pixels, count, reinterpret_cast<float*>(numbers.bytes.data()));
  });
  return numbers;
}

/// All frames of a kind, after the steps that repair frames.
io::Frames frames_of(io::ScanReader& reader, io::FrameKind kind, Range rows, Range bins,
                     const Preprocessing& how, Reference& ref) {
  const Index count = kind == io::FrameKind::flat ? reader.info().flats : reader.info().darks;
  io::Frames frames = reader.read(kind, {0, count}, rows, bins);
  std::vector<Index> replaced(rows.size(), 0);
  for (const Step& step : how.table())
    if (const ReferenceWork work = step.on_references ? step.on_references(how) : ReferenceWork{}) {
      if (frames.type != io::PixelType::float32) frames = as_numbers(frames);
      work({reinterpret_cast<float*>(frames.bytes.data()), count, rows.size(), bins.size(),
            rows.size() * bins.size(), bins.size()},
           replaced);
    }
  for (Index row = 0; row < ref.rows * ref.rows_together; ++row)
    ref.replaced[row / ref.rows_together] += replaced[row];
  return frames;
}

bool repairs(const Preprocessing& how) { return option::repair_cells.of(how.values).value_or(false); }

/// Bad pixels become NaN, and so do the cells that have them.
void drop(std::span<const char> bad, std::span<float> pixels) {
  for (std::size_t i = 0; i < bad.size(); ++i)
    if (bad[i]) pixels[i] = std::numeric_limits<float>::quiet_NaN();
}

/// Bad pixels (row, bin) but for those of cells behind beam stops, which have little beam.
std::vector<char> outside(std::span<const Range> covered, Index factor, Index bins, std::vector<char> bad) {
  for (std::size_t i = 0; i < bad.size(); ++i)
    if (is_in(covered, static_cast<Index>(i) % bins / factor)) bad[i] = 0;
  return bad;
}

/// The flats of each set, less the dark pixels and their own scatter.
void read_flats(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how, const FlatUse& use,
                std::span<const float> dark, Reference& ref) {
  const io::Frames frames = frames_of(reader, io::FrameKind::flat, rows, bins, how, ref);
  ref.flats = true;
  ref.sets.resize(use.sets.size(), ref.sets.front());
  const Binning cell(rows.size(), how.binning, how.rows_together);
  std::vector<char> bad;
  for (std::size_t s = 0; s < use.sets.size(); ++s) {
    const std::vector<Index>& which = use.sets[s];
    FlatSet& set = ref.sets[s];
    std::vector<float> pixels = combined({frames, use.flat_method, which, use.scale, dark}, ref);
    if (s == 0 && repairs(how))
      bad = outside(ref.covered, cell.bins, bins.size(),
                    bad_cells({rows.size(), bins.size(), dark, pixels, constant_cells(frames)}));
    drop(bad, pixels);
    set.span = binned(std::move(pixels), rows.size(), bins.size(), cell);
    double scale = 0;
    for (const Index f : which) scale += use.scale.empty() ? 1 : use.scale[f];
    const double a_photon = scale / which.size() / ref.photons_a_count;  // in counts
    const double share = variance_of(use.flat_method, which.size());
    parallel_for(ref.rows, [&](Index row) {
      for (Index i = row * ref.bins; i < (row + 1) * ref.bins; ++i)
        set.variance[i] = static_cast<float>(share * a_photon / set.span[i]);
      const auto of_row = [&](std::vector<float>& cells) {
        return std::span(cells.data() + row * ref.bins, ref.bins);
      };
      take_scatter(of_row(set.span), of_row(set.variance), how.shadow_bins, ref.covered);
    });
  }
}

/// Takes the beam from cells behind beam stops. Those that have no value in the flats have none in the darks.
void cover(Reference& ref) {
  for (Index row = 0; row < ref.rows; ++row)
    for (const Range& bins : ref.covered)
      for (Index i = row * ref.bins + bins.first; i < row * ref.bins + bins.last; ++i)
        for (FlatSet& set : ref.sets) {
          if (!std::isfinite(set.span[i])) ref.dark[i] = std::numeric_limits<float>::quiet_NaN();
          set.span[i] = 0;
        }
}

/// Marks a cell of a row that is dead in one set as dead in all. Returns how many are.
Index mark_dead(Reference& ref, Index row) {
  Index dead = 0;
  for (Index i = row * ref.bins; i < (row + 1) * ref.bins; ++i) {
    const std::size_t at = i;
    const bool good = std::isfinite(ref.dark[at]) && std::ranges::all_of(ref.sets, [at](const FlatSet& set) {
                        return set.span[at] > 0 && std::isfinite(set.span[at]);
                      });
    if (good) continue;
    for (FlatSet& set : ref.sets) set.span[at] = set.variance[at] = 0;
    if (!is_in(ref.covered, i - row * ref.bins)) ref.dark[at] = 0;
    ++dead;
  }
  return dead;
}

void set_floors(const Reference& ref, FlatSet& set, Index row) {
  const bool counts = ref.counts[row] != 0;
  for (Index i = row * ref.bins; i < (row + 1) * ref.bins; ++i) {
    const float span = set.span[i];
    set.floor[i] = span != 0 ? transmission_floor(span, 1, counts) : -std::numeric_limits<float>::infinity();
  }
  set.floor_range[row] = range_of(ref.row_of(set.floor, row));
}

/// What follows from darks and flats, row by row. @throws FileError that names a row without a good cell
void look_at_rows(Reference& ref) {
  for (FlatSet& set : ref.sets) set.floor.resize(set.span.size()), set.floor_range.resize(ref.rows);
  std::vector<Index> dead(ref.rows);
  std::vector<char> bad(ref.rows);
  parallel_for(ref.rows, [&](Index row) {
    const std::size_t at = row;
    dead[at] = mark_dead(ref, row);
    const std::optional<bool> counts = in_counts(ref.row_of(ref.sets.front().span, row));
    bad[at] = !counts, ref.counts[at] = counts.value_or(false);
    for (FlatSet& set : ref.sets) set_floors(ref, set, row);
  });
  ref.dead = std::accumulate(dead.begin(), dead.end(), Index{0});
  const auto first_bad = std::ranges::find(bad, char{1});
  require<FileError>(first_bad == bad.end(), "references: row ", ref.file_row(first_bad - bad.begin()),
                     ": no cell has a flat above its dark; check " + spelled("flats") + " and " +
                         spelled("darks") + ", which may be swapped, or leave the row out by " +
                         spelled("detector-rows"));
}

}  // namespace

Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how) {
  const io::ScanInfo& info = reader.info();
  FlatUse use = flat_use_of(info, how.values);
  const Binning cell(rows.size(), how.binning, how.rows_together);
  bins.last = bins.first + cell.used(bins.size());
  Reference ref = begun(rows, bins, cell, how);
  std::vector<float> dark;
  if (info.darks > 0) {
    const io::Frames frames = frames_of(reader, io::FrameKind::dark, rows, bins, how, ref);
    dark = combined({frames, use.dark_method, all_of(info.darks)}, ref);
    std::vector<float> good = dark;
    if (repairs(how) && info.flats == 0) drop(bad_cells({rows.size(), bins.size(), dark, {}, {}}), good);
    ref.dark = binned(std::move(good), rows.size(), bins.size(), cell);
  }
  if (info.flats > 0) read_flats(reader, rows, bins, how, use, dark, ref);
  cover(ref);
  look_at_rows(ref);
  if (ref.flats) ref.mixes = std::move(use.views);
  return ref;
}

FlatRow FlatMixer::operator()(const Reference& reference, Index view, Index row) {
  const auto row_of = [&](const std::vector<float>& cells) { return reference.row_of(cells, row); };
  const FlatMix mix = reference.mix_of(view);
  const FlatSet& first = reference.sets[mix.first];
  const FlatSet& second = reference.sets[mix.second];
  if (mix.is_one())
    return {row_of(first.span), row_of(first.variance), row_of(first.floor), first.floor_range[row]};
  const auto p = row_of(first.span), q = row_of(second.span), u = row_of(first.variance),
             v = row_of(second.variance);
  const bool counts = reference.counts[row] != 0;
  for (std::vector<float>* cells : {&span_, &variance_, &floor_}) cells->resize(p.size());
  for (std::size_t i = 0; i < p.size(); ++i) {
    const float both = mix.span(p[i], q[i]);
    span_[i] = both;
    variance_[i] = mix.variance(p[i], q[i], u[i], v[i]);
    floor_[i] = both > 0 ? transmission_floor(both, 1, counts) : -std::numeric_limits<float>::infinity();
  }
  return {span_, variance_, floor_, range_of(floor_)};
}

Reference crop(const Reference& reference, Range rows) {
  const auto part = [&](const auto& all, Index of_a_row) {
    return std::vector(all.begin() + rows.first * of_a_row, all.begin() + rows.last * of_a_row);
  };
  const Index bins = reference.bins;
  Reference some{.rows = rows.size(),
                 .bins = bins,
                 .first_row = reference.file_row(rows.first),
                 .rows_together = reference.rows_together,
                 .flats = reference.flats,
                 .photons_a_count = reference.photons_a_count,
                 .dark = part(reference.dark, bins),
                 .sets = {},
                 .mixes = reference.mixes,
                 .counts = part(reference.counts, 1),
                 .covered = reference.covered,
                 .replaced = part(reference.replaced, 1),
                 .not_finite = part(reference.not_finite, 1)};
  for (const FlatSet& set : reference.sets)
    some.sets.push_back(
        {part(set.span, bins), part(set.variance, bins), part(set.floor, bins), part(set.floor_range, 1)});
  some.dead = std::ranges::count(some.sets.front().span, 0.0f);
  return some;
}

void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts) {
  require<FileError>(info.flats > 0 || !how.air_bins.empty() || !how.minus_log, "the scan has 0 flats",
                     info.format.ends_with("sinogram") ? " (a lone sinogram)" : "",
                     "; give " + spelled("flats") + " FILE, " + spelled("air-columns") + " A:B, or " +
                         spelled("minus-log") + " false if it holds line integrals");
  require<FileError>(
      !needs_counts || (how.minus_log ? info.flats > 0 : how.photons > 0),
      spelled("stop") +
          " discrepancy: the noise follows from counts and flats, which this scan does not have; use " +
          spelled("iterations") + " or " + spelled("stop") + " relative=EPS" +
          (how.minus_log ? "" : ", or give " + spelled("photons") + " N, those of a cell in air"));
}

}  // namespace tandem::pipeline
