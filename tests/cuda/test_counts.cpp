// From counts to line integrals on a GPU, against the CPU. Skipped where no GPU is.

#include <algorithm>
#include <limits>
#include <random>

#include "step_fixture.hpp"

namespace tandem::test {
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

/// Rows of counts with dead cells inside a row, beside each other and at both ends.
Task task_of(PixelType type, bool mixes, int binning = 0, Index file_bins = 0) {
  return {.file = {views, rows << binning, std::max(file_bins, bins << binning)},
          .type = type,
          .binning = binning,
          .mixes = mixes,
          .dead = true,
          .brightest = 250};
}

class CudaCounts : public CudaSteps {
 protected:
  void expect_the_cpus_lines(const Task& task, const io::Frames& frames, const Preprocessing& how) const {
    expect_the_same(task, frames, how, tolerance::steps_with_logarithms);
  }
};

TEST_F(CudaCounts, OfEveryTypeAreTheCpus) {
  for (const bool mixes : {false, true})
    for (const bool minus_log : {false, true}) {
      const Preprocessing how{.minus_log = minus_log};
      const auto expect_of = [&]<class Pixel>(PixelType type, Pixel) {
        expect_the_cpus_lines(task_of(type, mixes), counts_of<Pixel>(type, rows, bins), how);
      };
      expect_of(PixelType::uint8, std::uint8_t{});
      expect_of(PixelType::uint16, std::uint16_t{});
      expect_of(PixelType::uint32, std::uint32_t{});
      expect_of(PixelType::float32, float{});
    }
}

TEST_F(CudaCounts, AreBinnedAsOnTheCpu) {
  for (const int level : {1, 2})
    expect_the_cpus_lines(task_of(PixelType::uint16, true, level),
                          counts_of<std::uint16_t>(PixelType::uint16, rows << level, bins << level),
                          {.binning = level});
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
      Task task = task_of(PixelType::float32, true, level, file_bins);
      task.above = 1;
      StepValues values;
      if (saturation) values["saturation"] = 200.0;
      expect_the_cpus_lines(task, frames, preprocessing_of(values, {0, file_bins}, level));
    }
}

/// The CPU takes them from other views.
TEST_F(CudaCounts, OfRowsWithoutAnyThatIsFiniteGoToTheCpu) {
  for (const float bad : {nan, INFINITY, -INFINITY}) {
    io::Frames frames = counts_of<float>(PixelType::float32, rows, bins);
    std::fill_n(reinterpret_cast<float*>(frames.bytes.data()) + 17 * bins, bins, bad);
    Findings found;
    const Task task = task_of(PixelType::float32, false);
    EXPECT_FALSE(on_this_gpu(task, frames, {}, found));
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
  EXPECT_TRUE(same_bits(on_device(a.memory, cpu), on_device(b.memory, cpu)));
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
}  // namespace tandem::test
