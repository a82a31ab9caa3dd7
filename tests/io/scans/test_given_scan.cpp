// Scans in the memory of a program that runs a command: they say what the arrays and their geometry say, and
// nothing is copied.

#include <cstring>
#include <numeric>

#include "../../../io/scans/given_scan.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::FrameKind;
using io::PixelType;

namespace {

constexpr Index view_count = 4, row_count = 3, bin_count = 5;

/// Counts 0, 1, ... in the memory of a caller.
struct Caller {
  std::vector<std::uint16_t> projections = std::vector<std::uint16_t>(view_count * row_count * bin_count),
                             flats = std::vector<std::uint16_t>(2 * row_count * bin_count);
  io::GivenScan given;

  explicit Caller(Scan scan, bool pitch_is_known = true) : given{std::move(scan), pitch_is_known, {}} {
    std::iota(projections.begin(), projections.end(), std::uint16_t{0});
    std::iota(flats.begin(), flats.end(), std::uint16_t{1000});
    const auto view = [](const std::vector<std::uint16_t>& counts, Index frames) {
      return io::FramesView{PixelType::uint16,
                            {frames, row_count, bin_count},
                            reinterpret_cast<const std::byte*>(counts.data()),
                            row_count * bin_count,
                            bin_count};
    };
    given.frames = {view(projections, view_count), view(flats, 2), {}};
  }
};

ParallelBeam shifted() {
  return {
      .detector = {.bins = bin_count, .rows = row_count, .bin_pitch = 1, .row_pitch = 2, .axis_bin = 1.75},
      .angles = {0.1, 1.2, 2.3, 3.0},
      .row_axis_bins = {1.5, 1.75, 2},
      .view_shift_bins = {0, 0.5, -0.25, 1}};
}

std::vector<Scan> scans() {
  const Detector detector{
      .bins = bin_count, .rows = row_count, .bin_pitch = 1, .row_pitch = 1.5, .axis_bin = 1.75};
  ConeBeam cone;
  cone.detector = detector, cone.angles = {0, 1, 2, 5}, cone.sod = 50, cone.sdd = 80, cone.midplane_row = 0.7;
  std::vector<FlexibleView> places(view_count, {{0, -50, 3}, {0, 30, 1}, {1, 0, 0.1}, {0, 0, 1.5}});
  for (std::size_t k = 0; k < places.size(); ++k) places[k].source[0] = static_cast<double>(k * k);
  return {shifted(), cone, flexible_beam(row_count, bin_count, places, false)};
}

}  // namespace

TEST(GivenScan, HasTheGeometryThatIsGiven) {
  for (const Scan& scan : scans()) {
    const Caller caller(scan);
    const auto reader = io::open_given_scan(caller.given, {});
    EXPECT_EQ(std::visit([](const auto& s) { return fingerprint(s); }, reader->info().scan),
              std::visit([](const auto& s) { return fingerprint(s); }, scan))
        << kind_of(scan);
    EXPECT_EQ(reader->info().flats, 2);
    EXPECT_EQ(reader->info().darks, 0);
  }
}

TEST(GivenScan, ReadsFramesWhereTheyLie) {
  const Caller caller(shifted());
  const auto reader = io::open_given_scan(caller.given, {});
  const auto view = reader->in_memory(FrameKind::projection, {1, 3}, {1, 3}, {2, 5});
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->data, reinterpret_cast<const std::byte*>(
                            &caller.projections[1 * row_count * bin_count + 1 * bin_count + 2]));
  EXPECT_EQ(view->shape, (Shape{2, 2, 3}));
  const std::vector<double> read = values(reader->read(FrameKind::projection, {1, 3}, {1, 3}, {2, 5}));
  EXPECT_EQ(read.front(), 22.0);
  EXPECT_EQ(read.back(), static_cast<double>(2 * row_count * bin_count + 2 * bin_count + 4));
}

TEST(GivenScan, TakesTheOptionsOfAFile) {
  const Caller caller(shifted());
  const auto reader = io::open_given_scan(caller.given, {.first_view = 1, .view_step = 2});
  const auto& scan = std::get<ParallelBeam>(reader->info().scan);
  EXPECT_EQ(scan.angles, (std::vector<double>{1.2, 3.0}));
  EXPECT_EQ(scan.view_shift_bins, (std::vector<double>{0.5, 1}));
  EXPECT_EQ(values(reader->read(FrameKind::projection, {0, 1}, {0, 1}, {0, 1})).front(), 15.0);
  const auto unknown = io::open_given_scan(Caller(shifted(), false).given, {});
  EXPECT_FALSE(unknown->info().pixel_size_mm.has_value());
}

}  // namespace tandem::test
