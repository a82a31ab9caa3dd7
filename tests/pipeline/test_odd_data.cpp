// All methods on data that have nothing in them, on the smallest scans, and on the smallest and largest
// numbers.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "../../pipeline/methods/method.hpp"
#include "../support/memory_reader.hpp"
#include "../support/reconstructions.hpp"

namespace tandem::pipeline {
namespace {

/// Line integrals that a function gives, without a file.
class Lines final : public io::ScanReader {
 public:
  using Value = std::function<float(Index view, Index row, Index bin)>;
  Lines(Scan scan, Value value) : value_(std::move(value)) {
    info_.scan = std::move(scan);
    info_.type = io::PixelType::float32;
    info_.views_stored = views_of(info_.scan);
    if (needs_mm(info_.scan)) info_.pixel_size_mm = detector_of(info_.scan).bin_pitch;
  }
  using io::ScanReader::read;
  void read(io::FrameKind, Range frames, Range rows, Range bins, io::Frames& into) override {
    std::vector<float> values;
    for (Index v = frames.first; v < frames.last; ++v)
      for (Index r = rows.first; r < rows.last; ++r)
        for (Index b = bins.first; b < bins.last; ++b) values.push_back(value_(v, r, b));
    into = test::floats({frames.size(), rows.size(), bins.size()}, values);
    into.first = frames.first;
  }

 private:
  Value value_;
};

Scan scan_of(std::string_view kind, Index rows, Index bins) {
  const Detector d{bins, rows, 1, 1, 0.5 * static_cast<double>(bins - 1)};
  if (kind == "parallel") return ParallelBeam{d, test::regular_angles(7, half_turn)};
  return point_source_scan(
      {d, test::regular_angles(14, whole_turn), 60, 90, 0.5 * static_cast<double>(rows - 1)});
}

/// Line integrals of a disc with a hole.
float disc(Index, Index, Index bin) {
  const double x = static_cast<double>(bin) - 6;
  const auto chord = [x](double radius) { return std::sqrt(std::max(0.0, radius * radius - x * x)); };
  return static_cast<float>(0.05 * (chord(5) - 0.7 * chord(2)));
}

std::vector<float> volume(std::string_view method, const Scan& scan, Lines::Value value,
                          std::optional<Index> size = {}) {
  Lines reader(scan, std::move(value));
  Recipe recipe;
  recipe.method = method;
  recipe.steps["minus-log"] = false;
  recipe.iterations = 5;
  recipe.size = size;
  return test::reconstructed(reader, make_plan(reader.info(), recipe));
}

bool all_finite(const std::vector<float>& x) {
  return std::ranges::all_of(x, [](float v) { return std::isfinite(v); });
}
float largest(const std::vector<float>& x) {
  float most = 0;
  for (const float v : x) most = std::max(most, std::abs(v));
  return most;
}

class OddData : public ::testing::TestWithParam<const char*> {
 protected:
  static std::vector<std::string_view> all() {
    std::vector<std::string_view> names;
    for (const Method& method : methods()) names.push_back(method.name);
    return names;
  }
  Index rows() const { return std::string_view(GetParam()) == "fan" ? 1 : 3; }
};

TEST_P(OddData, NothingGivesZeros) {
  for (const std::string_view method : all()) {
    const auto x = volume(method, scan_of(GetParam(), rows(), 13), [](Index, Index, Index) { return 0.0f; });
    EXPECT_TRUE(std::ranges::all_of(x, [](float v) { return v == 0; })) << method;
  }
}

TEST_P(OddData, OneEmptySliceIsZeroBesideOthers) {
  if (std::string_view(GetParam()) != "parallel") return;
  for (const std::string_view method : all()) {
    const auto x = volume(method, scan_of(GetParam(), 3, 13), [](Index view, Index row, Index bin) {
      return row == 1 ? 0.0f : disc(view, row, bin);
    });
    ASSERT_TRUE(all_finite(x)) << method;
    const auto area = static_cast<std::ptrdiff_t>(x.size()) / 3;
    EXPECT_TRUE(std::all_of(x.begin() + area, x.begin() + 2 * area, [](float v) { return v == 0; }))
        << method;
    EXPECT_GT(largest({x.begin(), x.begin() + area}), 0.02f) << method;
  }
}

TEST_P(OddData, TheSmallestScansGiveNumbers) {
  for (const std::string_view method : all())
    for (const Index bins : {1, 2, 13})
      for (const Index size : {1, 2}) {
        const Scan scan = scan_of(GetParam(), 1, bins);
        EXPECT_TRUE(all_finite(volume(
            method, scan, [](Index, Index, Index) { return 0.3f; }, size)))
            << method << ' ' << bins << ' ' << size;
      }
}

/// One voxel that rays meet in the middle has what they tell.
TEST_P(OddData, OneBinGivesItsVoxel) {
  for (const std::string_view method : all()) {
    if (method == "fbp") continue;  // it has no other bins to subtract
    const auto x = volume(method, scan_of(GetParam(), 1, 1), [](Index, Index, Index) { return 0.3f; });
    ASSERT_EQ(x.size(), 1u);
    EXPECT_GT(x[0], 0.1f) << method;
    EXPECT_LT(x[0], 1.0f) << method;
  }
}

/// Linear methods stay linear, as far as floats are small and large. Values smaller than any normal float
/// stay small.
TEST_P(OddData, TheSmallestAndTheLargestNumbersAreSolvedLikeOthers) {
  for (const std::string_view method : all()) {
    const Scan scan = scan_of(GetParam(), rows(), 13);
    const auto due = volume(method, scan, disc);
    const double within = 1e-4 * static_cast<double>(largest(due));
    for (const float scale : {1e-40f, 1e-30f, 1e-15f, 1e15f, 1e30f}) {
      SCOPED_TRACE(std::string(method) + ' ' + std::to_string(std::log10(scale)));
      std::vector<float> x;
      ASSERT_NO_THROW(
          x = volume(method, scan, [scale](Index v, Index r, Index b) { return scale * disc(v, r, b); }));
      EXPECT_LT(static_cast<double>(largest(x)), std::max(1e-28, static_cast<double>(scale)));
      const bool ends_at_zero = method == "mlem" || method == "osem";  // at 1e-30, see em_step
      if (method_named(method).kind.takes_blank) continue;             // its data are exponentials
      if (method == "tv" || scale < (ends_at_zero ? 1e-20f : 1e-37f)) continue;
      for (std::size_t i = 0; i < x.size(); ++i)
        ASSERT_NEAR(static_cast<double>(x[i]) / static_cast<double>(scale), due[i], within) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Beams, OddData, ::testing::Values("parallel", "fan", "cone"));

}  // namespace
}  // namespace tandem::pipeline
