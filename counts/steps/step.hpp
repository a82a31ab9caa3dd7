#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../preprocess.hpp"

namespace tandem::pipeline {

using kernels::Air;

/// One row of one view on its way through the steps, and what the steps tell each other about it.
struct ViewRow {
  const Reference& reference;
  Index row;      ///< row of the reference
  Range counted;  ///< the bins whose noise counts, after binning
  bool integers;  ///< the numbers of the file are integers, so all of them are finite
  float most = std::numeric_limits<float>::infinity();  ///< the largest number of their type, if integers
  FlatRow flat{};                                       ///< for this view
  std::span<float> y{};  ///< in bins of the file before binning, then in those of the reference
  /// Variance of each datum, infinite where nothing is known; empty if not asked for.
  std::span<float> variance{};
  Air air{};
  RowFindings met{};

  std::span<const float> dark() const { return reference.row_of(reference.dark, row); }
  std::span<const float> span() const { return flat.span; }
};

/// All views of one row, after binning.
struct Sinogram {
  const Reference& reference;
  Index row;
  Image<float> y;              ///< (view, row, bin), of this row and of the rows beside it
  std::span<RowFindings> all;  ///< (view, row)
  Notes& notes;                ///< for what the step wants to be told of this row

  RowFindings& met(Index view) const { return all[view * y.n1 + row]; }
};

/// All rows of one view: the rows of the chunk, and the rows that the step's margin adds above and below.
/// Before binning it has the rows and bins of the file.
struct Projection {
  const Reference& reference;
  Index view;
  Image<float> y;                ///< (1, row, bin)
  std::span<RowFindings> met;    ///< findings for each row of the reference
  Range kept;                    ///< rows of `y` that become line integrals; replaced values count in these
  const io::FramesView& counts;  ///< all views as they were read
};

/// A chunk in the memory of a GPU, on its way through the steps: counts, then data (view, row, bin).
struct GpuData {
  const Reference& reference;
  const kernels::CountsToLines& how;    ///< what the counts are, their flats, floors and dead cells
  const std::byte* counts;              ///< numbers of the type `how.type`, dense
  Index first_view;                     ///< first view, counted in the file
  std::optional<Array> changed_counts;  ///< what `counts` points to once a step has changed them
  Image<float> y;                       ///< data of all rows of the reference
  std::span<const Range> counted;       ///< for each row of `y`, the bins whose noise counts
  /// Variance of each datum, infinite where nothing is known; empty if not asked for.
  Image<float> variances;
  Stream& stream;
  std::optional<Array> air{};  ///< what each row of each view was divided by, kernels::Air
  /// Summed variance of the data, one value for each row of `y`; empty unless asked for.
  std::vector<double> noise{};
  kernels::CountsTally met{};  ///< findings of the steps that have floors
  bool mended = false;         ///< whether dead cells have values
  Notes notes{};               ///< notes of the step that is done now

  Index views() const { return how.counts[0]; }
  Range kept() const { return reference.kept_rows(); }  ///< rows of `y` that become line integrals
  Range heeded() const { return how.heeded; }           ///< the kept rows whose findings count
};

/// Changes its data in place. @returns how many bad values it replaced
using RowWork = std::function<Index(ViewRow&)>;
using SinogramWork = std::function<Index(Sinogram&)>;
using ProjectionWork = std::function<Index(Projection&)>;
/// The same for all views and rows at once; empty if these data take the CPU.
using GpuWork = std::function<std::optional<Index>(GpuData&)>;

/// Changes flats or darks, (frame, row, bin), before they become one. Adds to `replaced` how many values it
/// replaced in each row of the file.
using ReferenceWork = std::function<void(const Image<float>& frames, std::span<Index> replaced)>;

/// A step from counts to line integrals. All that programs and preprocessing know about a step stands here.
/// It has one of the three functions `on_row`, `on_sinogram` and `on_projection`, which says what it needs at
/// once: a row of one view, all views of a row, or all rows of a view. The function makes the work of the
/// step for one scan. It returns an empty one if the step is not asked for.
struct Step {
  std::string_view name;
  std::string_view help = {};  ///< a few words
  std::vector<StepOption> options = {};
  bool before_binning = false;  ///< not for steps on sinograms
  /// A repair that does the same to transmissions and to line integrals. It is done as late as it can be:
  /// before the next step on sinograms or projections, or last.
  bool can_wait = false;
  bool needs_all_views = false;  ///< the result changes if the scan has more views
  /// Whether the result depends on the place of the axis. Null: it does not (but see `Preprocessing::pose`).
  bool (*heeds_axis)(const Preprocessing& how) = nullptr;
  /// Whether it is about cells of a detector: where scans are joined, it is done in each of them before.
  bool of_cells = false;
  bool only_counts = false;         ///< it replaces nothing, it counts
  bool makes_new_noise = false;     ///< its result has other noise than counts
  bool scales_noise = false;        ///< it multiplies the noise of each datum, so it needs all variances
  bool needs_transmission = false;  ///< does not go with `--minus-log false`
  /// How many values the step replaced, if the pass of kernels/counts.hpp over the counts did it. Null: the
  /// pass does not do this step.
  Index (*in_pass)(const kernels::CountsTally& met) = nullptr;
  /// The work that a GPU does for the step by itself: before that pass if it is a step before binning, else
  /// after it. It is for steps that the pass does not do, or that come after such steps. Null, or empty:
  /// nothing.
  GpuWork (*on_gpu)(const Preprocessing& how) = nullptr;
  /// The bytes that `on_gpu` holds on the GPU beside the data (view, row, bin) after binning. Null: none.
  double (*gpu_bytes)(const Preprocessing& how, Shape shape) = nullptr;
  RowWork (*on_row)(const Preprocessing& how) = nullptr;
  SinogramWork (*on_sinogram)(const Preprocessing& how) = nullptr;
  ProjectionWork (*on_projection)(const Preprocessing& how) = nullptr;
  /// The work on the frames of flats and of darks. Null: none.
  ReferenceWork (*on_references)(const Preprocessing& how) = nullptr;
  /// The rows that it needs beside those that are asked for. Null: none.
  RowMargin (*margin)(const Preprocessing& how) = nullptr;
  /// How many bins it looks at beside each bin, after binning, if these are so many that selected columns
  /// should not end within the sample. Null: few.
  Index (*bins_beside)(const Preprocessing& how) = nullptr;
  /// The bytes that one thread holds while it works on data of this shape, (view, row, bin) after binning.
  /// Null: not worth counting.
  double (*bytes_a_thread)(const Preprocessing& how, Shape shape) = nullptr;
  /// Reads the files that options name, and adds what it finds as values of other options. Null: there are
  /// none. @throws FileError
  void (*complete)(StepValues& values) = nullptr;
  /// Says in one line which of these options do not go together; empty if all do. Null: all do.
  std::string (*conflict)(const StepValues& values) = nullptr;
  /// Says in one line what keeps this scan from the step; empty if nothing does. Null: nothing.
  std::string (*hindrance)(const Preprocessing& how) = nullptr;
  /// Words for the form of the step, beside its name, if its speed depends on the form. Null: none.
  std::string (*kind)(const Preprocessing& how) = nullptr;

  bool asked_for(const Preprocessing& how) const {
    return on_row ? !!on_row(how) : on_sinogram ? !!on_sinogram(how) : !!on_projection(how);
  }
  bool gpu_can(const Preprocessing& how) const { return in_pass || (on_gpu && on_gpu(how)); }
};

}  // namespace tandem::pipeline
