#include "preprocess.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "pixels.hpp"
#include "steps/step.hpp"

namespace tandem::pipeline {

namespace {

/// A step that is asked for, and its place among them.
template <class Work>
struct Asked {
  std::size_t place;
  Work work;
};

/// All steps that are asked for.
struct Chain {
  std::vector<std::string_view> names;
  std::vector<Asked<RowWork>> before_binning, after_binning;
  std::vector<Asked<SinogramWork>> sinograms;
};

Chain chain_of(const Preprocessing& how) {
  Chain chain;
  for (const Step& step : steps()) {
    if (!step.asked_for(how)) continue;
    const std::size_t place = chain.names.size();
    chain.names.push_back(step.name);
    if (step.on_sinogram)
      chain.sinograms.push_back({place, step.on_sinogram(how)});
    else
      (step.before_binning ? chain.before_binning : chain.after_binning).push_back({place, step.on_row(how)});
  }
  return chain;
}

/// How many values each step replaced.
using Replaced = std::vector<Index>;

/// One step after the other. `Data`: a row of one view, or a sinogram.
template <class Work, class Data>
void work_on(Data& data, const std::vector<Asked<Work>>& chain, Replaced& replaced) {
  for (const auto& [place, work] : chain) replaced[place] += work(data);
}

/// Adds to each sum that of the next `factor` values.
void add_together(const float* values, Index factor, std::span<float> sums) {
  if (factor == 2)  // in registers
    for (float& sum : sums) sum += values[0] + values[1], values += 2;
  else
    for (float& sum : sums) sum += std::accumulate(values, values + factor, 0.0f), values += factor;
}

/// The row's mean over 2^level x 2^level cells of a frame, of one row alone over 1 x 2^level, after the steps
/// before binning. `from`: the first of the file's rows, which lie `step` pixels apart; `scratch`: as long as
/// one of them.
template <class Pixel>
void bin(const Pixel* from, Index step, std::span<float> scratch, Binning cell, ViewRow& row,
         const std::vector<Asked<RowWork>>& chain, Replaced& replaced) {
  const std::span<float> binned = row.y;
  const Index bins = static_cast<Index>(binned.size()), factor = cell.bins;
  float *out = binned.data(), *line = factor == 1 ? out : scratch.data();
  row.y = {line, scratch.size()};
  if (factor > 1) std::fill_n(out, bins, 0.0f);
  for (Index r = 0; r < cell.rows; ++r) {
    std::copy_n(from + r * step, scratch.size(), line);
    work_on(row, chain, replaced);
    if (factor > 1) add_together(line, factor, binned);
  }
  const float share = 1.0f / static_cast<float>(cell.rows * factor);
  if (factor > 1)
    for (Index b = 0; b < bins; ++b) out[b] *= share;
  row.y = binned;
}

void require_finite(const ViewRow& row, Index view) {
  require<FileError>(std::all_of(row.y.begin(), row.y.end(), [](float y) { return std::isfinite(y); }),
                     "projections: view ", view, ", row ", row.reference.file_row(row.row),
                     ": a line integral is not finite; its flat is almost equal to its dark, or its counts "
                     "are beyond 3e38");
}

/// Data on their way through all steps.
class Pass {
 public:
  Pass(const Reference& reference, const Preprocessing& how, Image<float> y, std::span<const Range> counted)
      : reference_(reference),
        chain_(chain_of(how)),
        y_(y),
        counted_(counted),
        met_(static_cast<std::size_t>(y.n0 * y.n1)),
        replaced_(chain_.names.size()) {}

  /// All rows of one view, from its frame: each goes through all steps while it is in the cache.
  template <class Pixel>
  void work_on_view(Index view, const Pixel* frame, Index row_step, Index frame_bins, Binning cell) {
    Replaced replaced(replaced_.size());
    std::vector<float> scratch(static_cast<std::size_t>(frame_bins));
    for (Index r = 0; r < y_.n1; ++r) {
      ViewRow row{.reference = reference_,
                  .row = r,
                  .counted = counted_.empty() ? Range{0, y_.n2} : counted_[static_cast<std::size_t>(r)],
                  .integers = std::is_integral_v<Pixel>,
                  .y = {&y_(view, r, 0), static_cast<std::size_t>(y_.n2)}};
      bin(frame + r * cell.rows * row_step, row_step, scratch, cell, row, chain_.before_binning, replaced);
      if (!row.met.lost) {
        work_on(row, chain_.after_binning, replaced);
        require_finite(row, view);
      }
      met_[static_cast<std::size_t>(view * y_.n1 + r)] = row.met;
    }
    add(replaced);
  }

  /// After all views.
  void work_on_sinogram(Index row) {
    Replaced replaced(replaced_.size());
    Sinogram sinogram{reference_, row, y_, met_};
    work_on(sinogram, chain_.sinograms, replaced);
    add(replaced);
  }

  /// Of each row, over all views in their order.
  std::vector<double> noise_norms() const {
    std::vector<double> norms(static_cast<std::size_t>(y_.n1), 0.0);
    for (std::size_t i = 0; i < met_.size(); ++i) norms[i % norms.size()] += met_[i].variance;
    for (double& n : norms) n = std::sqrt(n);
    return norms;
  }

  void add_to(Findings& findings) const {
    for (const RowFindings& met : met_) findings.floor.add(met.floor);
    if (findings.steps.empty())
      for (const std::string_view name : chain_.names) findings.steps.push_back({name, 0});
    for (std::size_t k = 0; k < replaced_.size(); ++k) findings.steps[k].replaced += replaced_[k];
    findings.reference_not_finite += reference_.not_finite;
    findings.dead += reference_.dead;
  }

 private:
  void add(const Replaced& some) {
    for (std::size_t k = 0; k < some.size(); ++k) replaced_[k] += some[k];
  }

  const Reference& reference_;
  Chain chain_;
  Image<float> y_;
  std::span<const Range> counted_;
  std::vector<RowFindings> met_;  ///< (view, row)
  std::vector<std::atomic<Index>> replaced_;
};

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
      "; give --flats FILE, --air-columns A:B, or --minus-log false if it holds line integrals");
  require<FileError>(
      !needs_counts || (how.minus_log && info.flats > 0),
      "--stop discrepancy: the noise follows from counts and flats, which this scan does not have; "
      "use --iterations or --stop relative=EPS");
}

Preprocessing preprocessing_of(const StepValues& values, Range bins, int binning, double gain, bool noise) {
  return {.binning = binning,
          .minus_log = value_of<bool>(values, "--minus-log").value_or(true),
          .air_bins = air_within(value_of<Range>(values, "--air-columns"), bins, binning),
          .gain = gain,
          .noise = noise,
          .values = values};
}

Index Findings::replaced_by(std::string_view step) const {
  for (const OfStep& done : steps)
    if (done.name == step) return done.replaced;
  return 0;
}

void Findings::add(const Findings& other) {
  if (steps.empty()) {
    steps = other.steps;
  } else {
    for (std::size_t k = 0; k < other.steps.size(); ++k) steps[k].replaced += other.steps[k].replaced;
  }
  reference_not_finite += other.reference_not_finite;
  dead += other.dead;
  floor.add(other.floor);
}

LineIntegrals preprocess(const io::FramesView& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted) {
  const auto [views, frame_rows, frame_bins] = counts.shape;
  require<SpaceError>(space.shape() == Shape{views, reference.rows, reference.bins}, "preprocess: ", views,
                      " x ", reference.rows, " x ", reference.bins, " data for a space of ", space.size(),
                      " elements");
  Array y(space);
  Pass pass(reference, how, image(VectorView(y)), counted);
  const Binning cell(frame_rows, how.binning);
  with_pixels(counts, [&, views = views, bins = frame_bins](const auto* all) {
    parallel_for(views, [&](Index view) {
      pass.work_on_view(view, all + view * counts.frame_step, counts.row_step, bins, cell);
    });
  });
  parallel_for(reference.rows, [&](Index row) { pass.work_on_sinogram(row); });
  pass.add_to(findings);
  return {std::move(y), pass.noise_norms()};
}

}  // namespace tandem::pipeline
