#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "steps/step.hpp"

namespace tandem::pipeline {

/// What each step did.
using Tallies = std::vector<Findings::OfStep>;

inline void add(Tallies& sum, const Tallies& some) {
  for (std::size_t k = 0; k < some.size(); ++k) {
    sum[k].replaced += some[k].replaced;
    for (const auto& [note, rows] : some[k].notes) sum[k].notes[note] += rows;
  }
}

/// Rows of all views on their way through the steps, and what is found in them. Several threads may use it at
/// once, each for views or rows of its own.
class Rows {
 public:
  struct Of {
    const Reference& reference;
    const std::vector<const Step*>& steps;  ///< all that are done
    Index first_view;                       ///< in the file
    Image<float> y;                         ///< (view, row, bin), all rows of the reference
    std::optional<Image<float>> variance;   ///< has the same shape; empty if not asked for
    std::span<const Range> counted;         ///< the bins of each kept row whose noise counts; empty: all
  };
  explicit Rows(const Of& of)
      : met(of.y.n0 * of.y.n1), of_(of), kept_(of.reference.counted_rows()), air_(met.size()) {
    for (const Step* step : of.steps) none_.push_back({step->name, 0, {}, step->only_counts});
    tallies_ = none_;
  }

  Range kept() const { return kept_; }  ///< rows whose findings count: no margins
  bool is_kept(Index row) const { return kept_.first <= row && row < kept_.last; }
  std::size_t place_of(Index view, Index row) const { return view * of_.y.n1 + row; }
  const Tallies& none() const { return none_; }  ///< tallies of steps that did nothing yet

  /// Calls `work` with some rows of a view, one after the other, and with the tallies that it adds to: what
  /// is done in margins does not count. `most`: the largest number of the type of the counts.
  template <class Work>
  void for_each(Index view, Range rows, float most, const Work& work) {
    FlatMixer flats;
    Tallies heeded = none_, of_margin = none_;
    for (Index r = rows.first; r < rows.last; ++r) {
      ViewRow row = row_of(view, r, most, flats);
      work(row, is_kept(r) ? heeded : of_margin);
      air_[place_of(view, r)] = row.air;
      met[place_of(view, r)] = row.met;
    }
    add(heeded);
  }

  void add(const Tallies& some) {
    const std::lock_guard lock(mutex_);
    pipeline::add(tallies_, some);
  }

  /// The noise norm of each row, over all views in their order.
  std::vector<double> noise_norms() const {
    std::vector<double> norms(kept_.size(), 0.0);
    for (Index view = 0; view < of_.y.n0; ++view)
      for (Index row = kept_.first; row < kept_.last; ++row)
        norms[row - kept_.first] += met[place_of(view, row)].variance;
    for (double& n : norms) n = std::sqrt(n);
    return norms;
  }

  Findings findings() const {
    Findings all{.steps = tallies_};
    for (Index row = kept_.first; row < kept_.last; ++row) {
      for (Index view = 0; view < of_.y.n0; ++view) all.floor.add(met[place_of(view, row)].floor);
      all.reference_not_finite += of_.reference.not_finite[row];
      all.reference_replaced += of_.reference.replaced[row];
      if (of_.reference.dead > 0)
        all.dead += std::ranges::count(of_.reference.row_of(of_.reference.sets.front().span, row), 0.0f);
      for (const Range& bins : of_.reference.covered) all.dead -= bins.size();
    }
    return all;
  }

  std::vector<RowFindings> met;  ///< (view, row)

 private:
  /// `flats` must not be used while the row is.
  ViewRow row_of(Index view, Index row, float most, FlatMixer& flats) {
    const std::size_t bins = of_.y.n2;
    const Range all{0, of_.y.n2};
    return {.reference = of_.reference,
            .row = row,
            .counted = !is_kept(row)         ? Range{}
                       : of_.counted.empty() ? all
                                             : of_.counted[row - kept_.first],
            .integers = std::isfinite(most),
            .most = most,
            .flat = flats(of_.reference, of_.first_view + view, row),
            .y = {&of_.y(view, row, 0), bins},
            .variance = of_.variance ? std::span(&(*of_.variance)(view, row, 0), bins) : std::span<float>(),
            .air = air_[place_of(view, row)],
            .met = met[place_of(view, row)]};
  }

  Of of_;
  Range kept_;
  std::vector<Air> air_;  ///< (view, row)
  std::mutex mutex_;
  Tallies none_, tallies_;
};

}  // namespace tandem::pipeline
