#pragma once

// Chunks of counts on a GPU, after steps there and on the CPU.

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "../../core/random.hpp"
#include "../../counts/gpu_counts.hpp"
#include "../support/findings.hpp"
#include "../support/memory_reader.hpp"
#include "../support/numpy.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {

using namespace pipeline;

/// A chunk: frames of the file, what its flats are, and how many rows of it are margin.
struct Task {
  Shape file;  ///< (view, row, bin), before binning
  PixelType type = PixelType::uint16;
  int binning = 0;
  bool mixes = false;      ///< flats linear in time
  bool each = false;       ///< or flats of each view of the file, which begins with three others
  bool dead = false;       ///< dead cells, also at the ends and beside each other
  bool wide_dead = false;  ///< and so many beside each other that no window reaches a good one
  bool wide_stripe = false, soft_stripe = false;
  Index above = 0, below = 0, first_row = 0;  ///< rows after binning
  float brightest = 40000;

  Index together() const { return Index{1} << binning; }
  Index rows_together() const { return file[1] == 1 ? 1 : together(); }
  Index rows() const { return file[1] / rows_together(); }
  Index bins() const { return file[2] / together(); }
  Space space() const { return Space({file[0], rows() - above - below, bins()}, Blocks::rows); }
};

/// A blurred disc in a beam with stripes, noise, zingers, and columns that do not respond or fluctuate.
inline std::vector<float> counts_of(const Task& task) {
  const auto [views, rows, bins] = task.file;
  Random random(3);
  std::vector<float> gain, all;
  for (Index i = 0; i < rows * bins; ++i) gain.push_back(static_cast<float>(0.95 + 0.1 * random.uniform()));
  for (Index v = 0; v < views; ++v)
    for (Index r = 0; r < rows; ++r)
      for (Index b = 0; b < bins; ++b) {
        const double x = static_cast<double>(2 * b - bins) / static_cast<double>(bins) +
                         0.1 * std::cos(static_cast<double>(v) / 9);
        double y = 0.8 * std::exp(-1.5 * std::exp(-8 * x * x)) * (1 + 0.02 * (random.uniform() - 0.5));
        if (b == bins / 3) y = 0.5;
        if (b == 2 * bins / 3) y *= 2 * random.uniform();
        if (task.wide_stripe && bins / 2 <= b && b < bins / 2 + 7) y *= 0.3;
        if (task.soft_stripe)
          y *= std::exp(-0.06 * std::exp(-std::pow(static_cast<double>(b - bins / 4) / 5, 2)));
        y *= static_cast<double>(gain[static_cast<std::size_t>(r * bins + b)]);
        if (random.uniform() < 0.003) y += 0.3;
        if (random.uniform() < 0.001) y = 0;
        all.push_back(std::floor(static_cast<float>(y) * task.brightest));
      }
  return all;
}

template <class Pixel>
io::Frames frames_of(const Task& task, const std::vector<float>& counts) {
  std::vector<Pixel> pixels;
  for (const float count : counts) pixels.push_back(static_cast<Pixel>(count));
  io::Frames frames = frames_of(task.type, task.file, pixels);
  frames.first = 3;
  return frames;
}

inline io::Frames frames_of(const Task& task) {
  const std::vector<float> counts = counts_of(task);
  switch (task.type) {
    case PixelType::uint8:
      return frames_of<std::uint8_t>(task, counts);
    case PixelType::uint16:
      return frames_of<std::uint16_t>(task, counts);
    case PixelType::uint32:
      return frames_of<std::uint32_t>(task, counts);
    case PixelType::float32:
      break;
  }
  return frames_of<float>(task, counts);
}

inline Reference reference_of(const Task& task) {
  Reference ref;
  const Index cells = task.rows() * task.bins();
  ref.rows = task.rows(), ref.bins = task.bins(), ref.flats = true;
  ref.rows_together = task.rows_together(), ref.first_row = task.first_row * ref.rows_together;
  ref.margin_above = task.above, ref.margin_below = task.below;
  ref.counts.assign(static_cast<std::size_t>(ref.rows), 1);
  ref.not_finite.assign(static_cast<std::size_t>(ref.rows), 2);
  ref.replaced.assign(static_cast<std::size_t>(ref.rows), 1);
  Random random(2);
  for (Index i = 0; i < cells; ++i)
    ref.dark.push_back(static_cast<float>(0.01 * task.brightest * random.uniform()));
  std::vector<Index> dead;
  for (Index row = 0; row < ref.rows && task.dead && ref.bins > 9; ++row)
    for (const Index bin : {Index{0}, Index{4}, Index{5}, ref.bins - 1}) dead.push_back(row * ref.bins + bin);
  for (Index row = 1; row < ref.rows && task.wide_dead; ++row)
    for (Index bin = 10; bin < 24; ++bin) dead.push_back(row * ref.bins + bin);
  ref.dead = static_cast<Index>(dead.size());
  const Index sets = task.each ? task.file[0] + 3 : task.mixes ? 2 : 1;
  for (Index s = 0; s < sets; ++s) {
    FlatSet set;
    for (Index i = 0; i < cells; ++i)
      set.span.push_back(static_cast<float>(0.8 * task.brightest * (0.9 + 0.2 * random.uniform())));
    for (const Index cell : dead) set.span[static_cast<std::size_t>(cell)] = 0;
    set.variance.assign(set.span.size(), 1e-4f);
    for (const float span : set.span)
      set.floor.push_back(span == 0 ? -INFINITY : transmission_floor(span, 1, true));
    for (Index row = 0; row < ref.rows; ++row)
      set.floor_range.push_back(range_of(ref.row_of(set.floor, row)));
    ref.sets.push_back(set);
  }
  for (Index view = 0; task.mixes && view < task.file[0]; ++view) {
    const float late = static_cast<float>(view) / static_cast<float>(task.file[0]);
    ref.mixes.push_back({0, 1, 1 - late, late});
  }
  for (Index view = 0; task.each && view < sets; ++view) ref.mixes.push_back({view});
  return ref;
}

class CudaSteps : public Cuda {
 protected:
  /// Expects the same results, exactly so if no step takes a logarithm or a Fourier transform.
  void expect_the_same(const Task& task, const StepValues& values, double each = 0,
                       std::optional<Optics> optics = {}) const {
    Preprocessing how = preprocessing_of(values, {0, task.file[2]}, task.binning);
    how.optics = optics;
    expect_the_same(task, how, each);
  }

  void expect_the_same(const Task& task, const Preprocessing& how, double each = 0) const {
    expect_the_same(task, frames_of(task), how, each);
  }

  void expect_the_same(const Task& task, const io::Frames& frames, const Preprocessing& how,
                       double each = 0) const {
    Findings here, there;
    const Array truth = preprocess(frames, reference_of(task), how, task.space(), here).y;
    ASSERT_TRUE(gpu_prepares(frames, how));
    const auto lines = on_this_gpu(task, frames, how, there);
    ASSERT_TRUE(lines.has_value());
    const Array found = on_device(lines->y, cpu);
    for (Index i = 0; i < truth.size(); ++i)
      ASSERT_NEAR(found.data()[i], truth.data()[i],
                  each * std::max(1.0, static_cast<double>(std::abs(truth.data()[i]))))
          << i;
    EXPECT_LE(relative_error(found, truth), each > tolerance::steps_with_fits
                                                ? tolerance::steps_with_transforms_overall
                                                : tolerance::steps_with_logarithms);
    test::expect_the_same(there, here);
  }

  /// Line integrals made on the GPU, if it does not leave them to the CPU.
  std::optional<LineIntegrals> on_this_gpu(const Task& task, const io::FramesView& frames,
                                           const Preprocessing& how, Findings& found) const {
    return preprocess_on_gpu(on_gpu(frames, gpu), reference_of(task), how, task.space().on(gpu), found);
  }
  std::optional<LineIntegrals> on_this_gpu(const Task& task, const StepValues& values,
                                           Findings& found) const {
    return on_this_gpu(task, frames_of(task), preprocessing_of(values, {0, task.file[2]}, 0), found);
  }

  /// The result for transmissions that are already there: flats of 1, no darks.
  std::vector<float> stepped(const std::vector<float>& values, Shape n, StepValues options) const {
    options["minus-log"] = false;
    const Preprocessing how = preprocessing_of(options, {0, n[2]}, 0);
    ReferencesInMemory reader(floats({0, n[1], n[2]}, {}), floats({0, n[1], n[2]}, {}));
    const Reference ref = read_reference(reader, {0, n[1]}, {0, n[2]}, how);
    Findings findings;
    const Space space(n, Blocks::rows, gpu);
    const auto lines = preprocess_on_gpu(on_gpu(floats(n, values), gpu), ref, how, space, findings);
    const Array found = on_device(lines.value().y, cpu);
    return {found.data(), found.data() + found.size()};
  }

  void expect_vector(const std::string& name, const std::vector<float>& input, Shape n,
                     const StepValues& options, double tolerance) const {
    const std::vector<float> found = stepped(input, n, options), due = vector_of(name);
    ASSERT_EQ(found.size(), due.size()) << name;
    for (std::size_t i = 0; i < due.size(); ++i) ASSERT_NEAR(found[i], due[i], tolerance) << name << ' ' << i;
  }
};

inline StepValues as_transmissions(StepValues values) {
  values["minus-log"] = false;
  return values;
}

inline const std::vector<Shape> odd_shapes{{57, 3, 41}, {1, 1, 9}, {2, 1, 5}, {5, 7, 1}, {11, 2, 300}};

inline StepValues zingers(Index size, const std::string& window, const std::string& sign,
                          double threshold = 3000) {
  return {{"dezinger", size},
          {"dezinger:threshold", threshold},
          {"dezinger:window", window},
          {"dezinger:sign", sign}};
}

}  // namespace tandem::test
