#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "../preprocess.hpp"

namespace tandem::pipeline {

/// What the air columns say about the beam in one view of one row. Without air columns it is the transmission
/// one.
struct Air {
  double mean = 1;      ///< transmission of the air columns; counts if there are no flats
  double variance = 0;  ///< of the logarithm of the mean
};

/// One row of one view on its way through the steps, and what the steps tell each other about it.
struct ViewRow {
  const Reference& reference;
  Index row;             ///< of the reference
  Range counted;         ///< the bins whose noise counts, after binning
  bool integers;         ///< the numbers of the file are integers, so all of them are finite
  std::span<float> y{};  ///< in bins of the file before binning, then in those of the reference
  Air air{};
  RowFindings met{};

  std::span<const float> dark() const { return reference.row_of(reference.dark, row); }
  std::span<const float> span() const { return reference.row_of(reference.span, row); }
  std::span<const float> floor() const { return reference.row_of(reference.floor, row); }
  std::span<const float> flat_variance() const { return reference.row_of(reference.flat_variance, row); }
};

/// All views of one row, after binning.
struct Sinogram {
  const Reference& reference;
  Index row;
  Image<float> y;                    ///< (view, row, bin), of this row and of the rows beside it
  std::span<const RowFindings> met;  ///< (view, row)

  bool lost(Index view) const { return met[static_cast<std::size_t>(view * y.n1 + row)].lost; }
};

/// Changes its data in place. @returns how many bad values it replaced
using RowWork = std::function<Index(ViewRow&)>;
using SinogramWork = std::function<Index(Sinogram&)>;

/// A step from counts to line integrals. All that programs and preprocessing know about a step stands here.
/// It has one of the two functions `on_row` and `on_sinogram`, which says what it needs at once: a row of one
/// view, or all views of a row. The function makes the work of the step for one scan. It returns an empty one
/// if the step is not asked for.
struct Step {
  std::string_view name;
  std::string_view help;  ///< a few words
  std::vector<StepOption> options = {};
  bool before_binning = false;
  RowWork (*on_row)(const Preprocessing& how) = nullptr;
  SinogramWork (*on_sinogram)(const Preprocessing& how) = nullptr;

  bool asked_for(const Preprocessing& how) const { return on_row ? !!on_row(how) : !!on_sinogram(how); }
};

/// All steps, in the order in which they are done: steps before binning come first, steps on sinograms last.
std::span<const Step> steps();

}  // namespace tandem::pipeline
