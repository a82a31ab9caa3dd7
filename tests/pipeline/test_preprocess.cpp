#include "tandem/pipeline/preprocess.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "../support/tolerances.hpp"
#include "tandem/core/error.hpp"

namespace tandem::pipeline {
namespace {

template <class T>
io::Frames frames_of(io::PixelType type, Shape shape, const std::vector<T>& values) {
  io::Frames frames{type, shape, {}};
  frames.bytes.resize(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(frames.bytes.data(), values.data(), frames.bytes.size());
  return frames;
}

io::Frames floats(Shape shape, const std::vector<float>& v) {
  return frames_of(io::PixelType::float32, shape, v);
}

/// A scan in memory, all of one type.
class MemoryReader final : public io::ScanReader {
 public:
  MemoryReader(io::Frames flats, io::Frames darks) : flats_(std::move(flats)), darks_(std::move(darks)) {
    info_.flats = flats_.shape[0];
    info_.darks = darks_.shape[0];
  }
  io::Frames read(io::FrameKind kind, Range, Range, Range) override {
    return kind == io::FrameKind::flat ? flats_ : darks_;
  }

 private:
  io::Frames flats_, darks_;
};

Reference reference_of(Index bins, std::vector<float> flat, std::vector<float> dark, Preprocessing how = {}) {
  const Index rows = static_cast<Index>(flat.size()) / bins;
  MemoryReader reader(floats({1, rows, bins}, flat), floats({1, rows, bins}, dark));
  return read_reference(reader, {0, rows}, {0, bins}, how);
}

Space space_of(Index views, Index rows, Index bins) { return Space({views, rows, bins}, Blocks::rows); }

TEST(Preprocess, TakesTheLogarithmOfTransmission) {
  const Reference ref = reference_of(3, {110, 210, 60}, {10, 10, 10});
  Findings findings;
  const auto counts = frames_of<std::uint16_t>(io::PixelType::uint16, {1, 1, 3}, {60, 110, 35});
  const auto result = preprocess(counts, ref, {}, space_of(1, 1, 3), findings);
  for (int b = 0; b < 3; ++b) EXPECT_NEAR(result.y.data()[b], std::log(2.0), tolerance::float_rounding);
  EXPECT_EQ(findings.floored, 0);
}

TEST(Preprocess, NoiseIsOneOverThePhotonsOfDatumAndFlats) {
  // two flats of 100 net counts at 2 counts a photon: 50 photons a flat; data of 25 and 10 photons
  MemoryReader reader(floats({2, 1, 2}, {110, 110, 110, 110}), floats({1, 1, 2}, {10, 10}));
  const Preprocessing how{0, true, {}, 2.0, true};
  const Reference ref = read_reference(reader, {0, 1}, {0, 2}, how);
  Findings findings;
  const auto result = preprocess(floats({1, 1, 2}, {60, 30}), ref, how, space_of(1, 1, 2), findings);
  const double variance = 1.0 / 25 + 1.0 / 100 + 1.0 / 10 + 1.0 / 100;
  EXPECT_NEAR(result.noise_norms[0], std::sqrt(variance), tolerance::float_rounding);
}

TEST(Preprocess, DeadCellsBecomeTheirNeighboursValues) {
  const Reference ref = reference_of(5, {0, 1, 1, 0, 1}, {0, 0, 0, 0, 0});
  EXPECT_EQ(ref.dead, 2);
  Findings findings;
  const float e1 = std::exp(-1.0f), e3 = std::exp(-3.0f);
  const auto result =
      preprocess(floats({1, 1, 5}, {7, e1, e1, NAN, e3}), ref, {}, space_of(1, 1, 5), findings);
  const double expected[] = {1, 1, 1, 2, 3};
  for (int b = 0; b < 5; ++b) EXPECT_NEAR(result.y.data()[b], expected[b], 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.dead, 2);
}

TEST(Preprocess, NonFinitePixelsBecomeTheMeanOfGoodNeighbours) {
  const Reference ref = reference_of(4, {1, 1, 1, 1}, {0, 0, 0, 0});
  Findings findings;
  const auto result = preprocess(floats({2, 1, 4}, {0.5f, NAN, 0.25f, INFINITY, -INFINITY, 0.5f, 0.5f, 0.5f}),
                                 ref, {}, space_of(2, 1, 4), findings);
  EXPECT_EQ(findings.not_finite, 3);
  EXPECT_NEAR(result.y.data()[1], -std::log(0.375), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[3], -std::log(0.25), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[4], -std::log(0.5), tolerance::float_rounding);
}

TEST(Preprocess, FloorIsHalfACountForIntegers) {
  const Reference ref = reference_of(2, {1000, 1000}, {0, 0});
  Findings findings;
  const auto counts = frames_of<std::uint16_t>(io::PixelType::uint16, {1, 1, 2}, {0, 1});
  const auto result = preprocess(counts, ref, {}, space_of(1, 1, 2), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(2000.0), 10 * tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(1000.0), 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.floored, 1);
}

TEST(Preprocess, BinningAveragesCountsAndFlats) {
  const Preprocessing how{1, true, {}, 1};
  const Reference ref = reference_of(5, {1, 3, 2, 2, 9, 1, 3, 2, 2, 9}, std::vector<float>(10, 0.0f), how);
  EXPECT_EQ(ref.bins, 2);
  EXPECT_EQ(ref.rows, 1);
  Findings findings;
  const auto result =
      preprocess(floats({1, 2, 5}, {1, 1, 2, 0, 9, 1, 1, 1, 1, 9}), ref, how, space_of(1, 1, 2), findings);
  EXPECT_NEAR(result.y.data()[0], std::log(2.0), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[1], std::log(2.0), tolerance::float_rounding);
}

TEST(Preprocess, AirColumnsTakeThePlaceOfFlats) {
  MemoryReader reader(floats({0, 1, 4}, {}), floats({1, 1, 4}, {10, 10, 10, 10}));
  const Preprocessing how{0, true, Range{0, 2}, 1};
  const Reference ref = read_reference(reader, {0, 1}, {0, 4}, how);
  Findings findings;
  const auto counts =
      frames_of<std::uint16_t>(io::PixelType::uint16, {2, 1, 4}, {100, 120, 60, 10, 210, 210, 110, 35});
  const auto result = preprocess(counts, ref, how, space_of(2, 1, 4), findings);
  EXPECT_NEAR(result.y.data()[2], std::log(2.0), tolerance::float_rounding);
  EXPECT_NEAR(result.y.data()[3], std::log(200.0), 10 * tolerance::float_rounding);  // half a count of 100
  EXPECT_NEAR(result.y.data()[7], std::log(8.0), 10 * tolerance::float_rounding);
}

TEST(Preprocess, AirColumnsMustLieWithinWhatIsRead) {
  EXPECT_EQ(air_within(Range{10, 20}, {8, 100}, 0), (Range{2, 12}));
  EXPECT_EQ(air_within(Range{11, 21}, {8, 100}, 1), (Range{2, 6}));
  EXPECT_FALSE(air_within({}, {8, 100}, 1).has_value());
  EXPECT_THROW(air_within(Range{5, 20}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(air_within(Range{90, 101}, {8, 100}, 0), GeometryError);
  EXPECT_THROW(air_within(Range{9, 11}, {8, 100}, 3), GeometryError);
}

TEST(Preprocess, RowsWithoutAFinitePixelBecomeTheirNeighbouringViews) {
  const Reference ref = reference_of(2, {1, 1}, {0, 0});
  Findings findings;
  const float e1 = std::exp(-1.0f), e3 = std::exp(-3.0f);
  const auto result = preprocess(floats({5, 1, 2}, {NAN, NAN, e1, e1, NAN, NAN, NAN, NAN, e3, e3}), ref, {},
                                 space_of(5, 1, 2), findings);
  const double expected[] = {1, 1, 2, 2, 3};
  for (int v = 0; v < 5; ++v)
    EXPECT_NEAR(result.y.data()[2 * v], expected[v], 10 * tolerance::float_rounding);
  EXPECT_EQ(findings.not_finite, 6);
}

TEST(Preprocess, CountsPixelsOfFlatsThatAreNotFinite) {
  const Reference ref = reference_of(3, {2, NAN, 4}, {0, 0, INFINITY});
  EXPECT_EQ(ref.not_finite, 2);
}

TEST(Preprocess, LineIntegralsPassUnchanged) {
  MemoryReader reader(floats({0, 1, 3}, {}), floats({0, 1, 3}, {}));
  const Preprocessing how{0, false, {}, 1};
  Findings findings;
  const auto result =
      preprocess(floats({1, 1, 3}, {-0.5f, 0, 7}), read_reference(reader, {0, 1}, {0, 3}, how), how,
                 space_of(1, 1, 3), findings);
  EXPECT_EQ(result.y.data()[0], -0.5f);
  EXPECT_EQ(result.y.data()[2], 7.0f);
}

TEST(Preprocess, RefusesCountsWithoutFlats) {
  io::ScanInfo info;
  EXPECT_THROW(require_reference(info, {}, false), FileError);
  EXPECT_NO_THROW(require_reference(info, {0, false, {}, 1}, false));
  EXPECT_NO_THROW(require_reference(info, {0, true, Range{0, 2}, 1}, false));
  EXPECT_THROW(require_reference(info, {0, true, Range{0, 2}, 1}, true), FileError);
  info.flats = 3;
  EXPECT_THROW(require_reference(info, {0, true, Range{0, 2}, 1}, false), FileError);
}

}  // namespace
}  // namespace tandem::pipeline
