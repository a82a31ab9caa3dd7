// From counts to line integrals on a GPU, against the CPU. Skipped where no GPU is.

#include <cmath>
#include <limits>
#include <random>

#include "../../counts/gpu_counts.hpp"
#include "../../operators/vector.hpp"
#include "../support/findings.hpp"
#include "../support/tolerances.hpp"
#include "cuda_fixture.hpp"

namespace tandem::pipeline {
namespace {

constexpr Index views = 37, rows = 6, bins = 70;

/// Counts of a type, (view, row, bin), some of them full.
template <class Pixel>
io::Frames counts_of(PixelType type, Index file_rows, Index file_bins) {
  io::Frames frames{type, {views, file_rows, file_bins}, {}, 3};
  const auto count = static_cast<std::size_t>(views * file_rows * file_bins);
  frames.bytes.resize(count * sizeof(Pixel));
  auto* pixels = reinterpret_cast<Pixel*>(frames.bytes.data());
  std::mt19937 random(1);
  for (std::size_t i = 0; i < count; ++i) pixels[i] = static_cast<Pixel>(random() % 250 + (i % 97 == 0));
  if (type == PixelType::uint8) pixels[11] = pixels[500] = std::numeric_limits<Pixel>::max();
  return frames;
}

/// Two sets of flats with dead cells inside a row, beside each other and at both ends.
Reference reference_of(bool mixes) {
  Reference ref;
  ref.rows = rows, ref.bins = bins, ref.flats = true;
  ref.counts.assign(rows, 1);
  ref.not_finite.assign(rows, 2), ref.replaced.assign(rows, 1);
  std::mt19937 random(2);
  for (Index i = 0; i < rows * bins; ++i) ref.dark.push_back(static_cast<float>(random() % 13));
  for (int s = 0; s < (mixes ? 2 : 1); ++s) {
    FlatSet set;
    for (Index i = 0; i < rows * bins; ++i) set.span.push_back(static_cast<float>(180 + random() % 60));
    for (const Index dead : {0, 69, 70 + 20, 70 + 21, 140 + 68, 140 + 69}) set.span[dead] = 0;
    set.variance.assign(set.span.size(), 1e-4f);
    for (const float span : set.span)
      set.floor.push_back(span == 0 ? -INFINITY : transmission_floor(span, 1, true));
    for (Index row = 0; row < rows; ++row) set.floor_range.push_back(range_of(ref.row_of(set.floor, row)));
    ref.sets.push_back(set);
  }
  ref.dead = 6;
  if (mixes)
    for (Index view = 0; view < views; ++view) {
      const float late = static_cast<float>(view) / static_cast<float>(views);
      ref.mixes.push_back({0, 1, 1 - late, late});
    }
  return ref;
}

class CudaCounts : public test::Cuda {
 protected:
  void expect_the_same(const io::Frames& frames, const Reference& ref, const Preprocessing& how) const {
    const Space space({views, rows - ref.margin_above, bins}, Blocks::rows);
    Findings here, there;
    const Array truth = preprocess(frames, ref, how, space, here).y;
    ASSERT_TRUE(gpu_prepares(frames, how));
    const auto lines = preprocess_on_gpu(on_gpu(frames, gpu), ref, how, space.on(gpu), there);
    ASSERT_TRUE(lines.has_value());
    const Array brought = on_device(lines->y, cpu);
    for (Index i = 0; i < truth.size(); ++i)
      ASSERT_NEAR(brought.data()[i], truth.data()[i], 1e-6 * std::max(1.0f, std::abs(truth.data()[i]))) << i;
    test::expect_the_same(there, here);
  }
};

TEST_F(CudaCounts, OfEveryTypeAreTheCpus) {
  for (const bool mixes : {false, true})
    for (const bool minus_log : {false, true}) {
      const Reference ref = reference_of(mixes);
      const Preprocessing how{.minus_log = minus_log};
      expect_the_same(counts_of<std::uint8_t>(PixelType::uint8, rows, bins), ref, how);
      expect_the_same(counts_of<std::uint16_t>(PixelType::uint16, rows, bins), ref, how);
      expect_the_same(counts_of<std::uint32_t>(PixelType::uint32, rows, bins), ref, how);
      expect_the_same(counts_of<float>(PixelType::float32, rows, bins), ref, how);
    }
}

TEST_F(CudaCounts, AreBinnedAsOnTheCpu) {
  for (const int level : {1, 2}) {
    Reference ref = reference_of(true);
    ref.rows_together = Index{1} << level;
    expect_the_same(counts_of<std::uint16_t>(PixelType::uint16, rows << level, bins << level), ref,
                    {.binning = level});
  }
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// They are at both ends of a row, alone, beside each other, in dead cells, in neighbouring rows and in all
/// but one pixel of a row, whose saturated pixels count as they came. Bins that make no cell do not count.
TEST_F(CudaCounts, ThatAreNotFiniteAreRepairedAsOnTheCpu) {
  for (const int level : {0, 1, 2})
    for (const bool saturation : {false, true}) {
      const Index file_rows = rows << level, used_bins = bins << level,
                  file_bins = used_bins + (Index{1} << level) - 1;
      io::Frames frames = counts_of<float>(PixelType::float32, file_rows, file_bins);
      auto* pixels = reinterpret_cast<float*>(frames.bytes.data());
      const auto row = [&](Index view, Index r) { return pixels + (view * file_rows + r) * file_bins; };
      for (const Index bin :
           {Index{0}, Index{1}, Index{7}, Index{20}, Index{21}, Index{33}, used_bins - 1, file_bins - 1})
        row(3, 1)[bin] = bin % 2 == 0 ? nan : INFINITY, row(3, 2)[bin] = -INFINITY;
      row(17, 0)[5] = row(36, rows - 1)[9] = nan;
      std::fill_n(row(20, 4), file_bins, nan);
      row(20, 4)[11] = 17;
      Reference ref = reference_of(true);
      ref.rows_together = Index{1} << level;
      ref.margin_above = 1;
      StepValues values;
      if (saturation) values["saturation"] = 200.0;
      expect_the_same(frames, ref, preprocessing_of(values, {0, file_bins}, level));
    }
}

/// The CPU takes them from other views.
TEST_F(CudaCounts, OfRowsWithoutAnyThatIsFiniteGoToTheCpu) {
  for (const float bad : {nan, INFINITY, -INFINITY}) {
    io::Frames frames = counts_of<float>(PixelType::float32, rows, bins);
    std::fill_n(reinterpret_cast<float*>(frames.bytes.data()) + 17 * bins, bins, bad);
    Findings found;
    EXPECT_FALSE(preprocess_on_gpu(on_gpu(frames, gpu), reference_of(false), {},
                                   Space({views, rows, bins}, Blocks::rows, gpu), found));
    EXPECT_TRUE(found.steps.empty());
  }
}

TEST_F(CudaCounts, AreCopiedFromFramesThatLieApart) {
  const io::Frames all = counts_of<std::uint16_t>(PixelType::uint16, 2 * rows, bins);
  io::FramesView part = all;
  part.data += 4 * bins * 2, part.shape[1] = rows;
  io::Frames dense{part.type, part.shape, {}, part.first};
  dense.bytes.resize(static_cast<std::size_t>(views * rows * bins) * 2);
  for (Index view = 0; view < views; ++view)
    std::copy_n(part.data + view * part.frame_step * 2, rows * bins * 2,
                &dense.bytes[view * rows * bins * 2]);
  const GpuFrames a = on_gpu(part, gpu), b = on_gpu(dense, gpu);
  EXPECT_TRUE(test::same_bits(on_device(a.memory, cpu), on_device(b.memory, cpu)));
}

TEST_F(CudaCounts, CountsWhatIsNotFiniteInEachBlock) {
  for (const Blocks blocks : {Blocks::whole, Blocks::slices, Blocks::rows}) {
    Array x(Space({5, 7, 4001}, blocks));
    for (const Index i : {0, 4001, 4002, 50000, 140034}) x.data()[i] = i % 2 ? NAN : -INFINITY;
    const Array there = on_device(x, gpu);
    EXPECT_EQ(count_not_finite(there, default_stream(gpu)), count_not_finite(x, default_stream(cpu)));
  }
}

}  // namespace
}  // namespace tandem::pipeline
