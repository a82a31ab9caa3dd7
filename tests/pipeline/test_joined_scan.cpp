// Scans of heights and tiles, cut from a body whose line integrals are known, are joined to one scan.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../geometry/phantom.hpp"
#include "../../io/scans/given_scan.hpp"
#include "../../pipeline/complete/joined_scan.hpp"
#include "../../pipeline/simulate.hpp"
#include "../support/scans.hpp"

namespace tandem::pipeline {
namespace {

using calibration::Along;

constexpr Index views = 48, rows = 44, bins = 84;
constexpr double photons = 1e4, axis = 50;

/// Where a part lies: its cell (row, bin) is (row + rows, bin + bins) of the whole; and its flats, which are
/// so much too high.
struct At {
  double rows = 0, bins = 0, flats = 1;
};

/// A scan in memory. The readers keep its numbers.
struct Made {
  std::vector<float> frames, flats, darks;
  io::GivenScan given;
  std::shared_ptr<io::ScanReader> reader;
};

Phantom body() { return scaled(ellipsoids(), 40, 0.02); }

ParallelBeam scan_at(const At& at, Index width = bins, Index height = rows) {
  return {{width, height, 1, 1, axis - at.bins}, test::regular_angles(views), {}};
}

/// The line integrals of a part, each the mean over two cells by two, as a scintillator blurs them. The whole
/// has height 0 in its row 20.
std::vector<float> lines_at(const Phantom& whole, const At& at, Index width = bins, Index height = rows) {
  constexpr Index fine = 4, wide = 2 * fine;
  const Index w = (width + 1) * fine, h = (height + 1) * fine;
  const auto place = [](double cell) { return (cell + 1) * fine - 0.5; };  // where the middle of the mean is
  ParallelBeam scan{{w, h, 1.0 / fine, 1.0 / fine, place(axis - at.bins)}, test::regular_angles(views), {}};
  Phantom moved = whole;
  const double middle = at.rows + (0.5 * (h - 1) - place(0)) / fine - 20;  // the detector is at 0
  for (Ellipsoid& each : moved.ellipsoids) each.centre[2] -= middle;
  std::vector<float> rays(views * h * w), lines(views * height * width);
  project(moved, scan, {0, h}, rays);
  for (Index view = 0; view < views; ++view)
    for (Index row = 0; row < height; ++row)
      for (Index bin = 0; bin < width; ++bin) {
        double sum = 0;
        for (Index i = 0; i < wide; ++i)
          for (Index j = 0; j < wide; ++j) sum += rays[(view * h + row * fine + i) * w + bin * fine + j];
        lines[(view * height + row) * width + bin] = static_cast<float>(sum / (wide * wide));
      }
  return lines;
}

/// Noise and flats, whose cells differ by a tenth, and dead ones.
std::unique_ptr<Made> made(const At& at, const Phantom& whole = body()) {
  auto scan = std::make_unique<Made>();
  scan->frames = lines_at(whole, at);
  Random random(static_cast<std::uint64_t>(1000 + at.rows + 7 * at.bins));
  const auto counted = [&](double mean) { return static_cast<float>(100 + poisson(mean, random)); };
  std::vector<double> open;
  for (Index k = 0; k < rows * bins; ++k) open.push_back(photons * (0.9 + 0.2 * random.uniform()));
  open[5 * bins + 9] = 0;  // a dead cell
  for (std::size_t k = 0; k < scan->frames.size(); ++k)
    scan->frames[k] = counted(open[k % open.size()] * std::exp(-double{scan->frames[k]}));
  for (Index k = 0; k < 10; ++k)
    for (const double each : open) scan->flats.push_back(counted(at.flats * each));
  scan->darks.assign(rows * bins, 100);
  const auto frames_of = [](Index count, const std::vector<float>& values) {
    return io::FramesView{io::PixelType::float32,
                          {count, rows, bins},
                          reinterpret_cast<const std::byte*>(values.data()),
                          rows * bins,
                          bins};
  };
  scan->given = {scan_at(at),
                 true,
                 {frames_of(views, scan->frames), frames_of(10, scan->flats), frames_of(1, scan->darks)}};
  std::get<ParallelBeam>(scan->given.scan).detector.axis_bin = axis - at.bins;
  scan->reader = io::open_given_scan(scan->given, {});
  return scan;
}

using AllMade = std::vector<std::unique_ptr<Made>>;

std::unique_ptr<io::ScanReader> joined(const AllMade& all, const Stitch& how, const StepValues& steps = {}) {
  std::vector<NamedScan> scans;
  for (const auto& each : all)
    scans.push_back({std::string(1, static_cast<char>('a' + scans.size())), each->reader});
  return join_scans(scans, how, steps);
}

AllMade all_made(const std::vector<At>& places, const Phantom& whole = body()) {
  AllMade all;
  for (const At& at : places) all.push_back(made(at, whole));
  return all;
}

/// Line integrals of the joined frames.
std::vector<double> lines_of(io::ScanReader& scan) {
  const Detector& d = detector_of(scan.info().scan);
  const Range all_rows{0, d.rows}, all_bins{0, d.bins};
  const io::Frames frames = scan.read(io::FrameKind::projection, {0, views}, all_rows, all_bins),
                   flats = scan.read(io::FrameKind::flat, {0, 1}, all_rows, all_bins);
  const auto* counts = reinterpret_cast<const float*>(frames.bytes.data());
  const auto* open = reinterpret_cast<const float*>(flats.bytes.data());
  std::vector<double> lines;
  for (Index k = 0; k < views * d.rows * d.bins; ++k)
    lines.push_back(-std::log(counts[k] / open[k % (d.rows * d.bins)]));
  return lines;
}

/// Means and deviations of what is wrong, for each row, or for each bin.
struct Errors {
  std::vector<double> mean, deviation;
};

Errors errors_of(io::ScanReader& scan, Along along, const At& first) {
  const Detector& d = detector_of(scan.info().scan);
  const std::vector<double> lines = lines_of(scan);
  const std::vector<float> exact = lines_at(body(), first, d.bins, d.rows);
  const Index count = along == Along::rows ? d.rows : d.bins, edge = 2;
  Errors errors{std::vector<double>(count), std::vector<double>(count)};
  std::vector<double> cells(count);
  for (Index view = 0; view < views; ++view)
    for (Index row = edge; row < d.rows - edge; ++row)
      for (Index bin = edge; bin < d.bins - edge; ++bin) {
        const Index at = (view * d.rows + row) * d.bins + bin, place = along == Along::rows ? row : bin;
        const double wrong = lines[at] - exact[at];
        errors.mean[place] += wrong, errors.deviation[place] += wrong * wrong, ++cells[place];
      }
  for (Index k = edge; k < count - edge; ++k) {
    errors.mean[k] /= cells[k];
    errors.deviation[k] = std::sqrt(errors.deviation[k] / cells[k]);
  }
  return errors;
}

/// The numbers of a note: rows and their uncertainty, bins and theirs, agreement, brightness.
std::vector<double> numbers_in(const std::string& note) {
  std::vector<double> numbers;
  const std::regex number("-?[0-9]+[.]?[0-9]*");
  const std::string text = note.substr(note.find(" begins "));
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
    numbers.push_back(std::stod(at->str()));
  return numbers;
}

struct JoinCase {
  const char* name;
  Along along;
  std::vector<At> places;
};

class JoinedScan : public testing::TestWithParam<JoinCase> {};

TEST_P(JoinedScan, IsAsTheWhole) {
  const auto& [name, along, places] = GetParam();
  const AllMade all = all_made(places);
  const auto scan = joined(all, {along});
  ASSERT_GE(scan->info().notes.size(), places.size() - 1);
  const double by_noise = 1 / std::sqrt(photons);
  for (std::size_t k = 1; k < places.size(); ++k) {
    const std::vector<double> n = numbers_in(scan->info().notes[k - 1]);
    const double row = places[k].rows - places[k - 1].rows, bin = places[k].bins - places[k - 1].bins,
                 percent = 100 * (places[k].flats / places[k - 1].flats - 1);
    EXPECT_NEAR(n[0], row, 0.1);
    EXPECT_NEAR(n[0], row, 4 * n[1]);
    EXPECT_NEAR(n[2], bin, 0.1);
    EXPECT_NEAR(n[2], bin, 4 * n[3]);
    EXPECT_NEAR(n.back(), percent, 0.2) << scan->info().notes[k - 1];
  }
  double above = 0, below = 0;
  for (const At& at : places) {
    above = std::min(above, at.rows - places[0].rows), below = std::max(below, at.rows - places[0].rows);
  }
  const double first_row = std::ceil(along == Along::rows ? above : below) + places[0].rows;
  const At origin{first_row, axis - detector_of(scan->info().scan).axis_bin};
  const Errors errors = errors_of(*scan, along, origin);
  for (std::size_t k = 2; k + 2 < errors.mean.size(); ++k) {
    EXPECT_LT(std::abs(errors.mean[k]), 0.5 * by_noise) << k;
    EXPECT_LT(errors.deviation[k], 2.2 * by_noise) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, JoinedScan,
    testing::Values(JoinCase{"heights", Along::rows, {{}, {33.3, 1.37, 1.02}}},
                    JoinCase{"downwards", Along::rows, {{}, {-30.6, -0.4, 0.98}}},
                    JoinCase{"three", Along::rows, {{-20}, {10.5, 0.3, 1.02}, {32.2, -0.6, 1.01}}},
                    JoinCase{"tiles", Along::bins, {{0, -16}, {0.4, 33.7, 1.02}}}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(JoinScans, TakesStepsThatAreGiven) {
  const AllMade all = all_made({{-20, 0}, {10, 0}, {40, 0}});
  for (const std::vector<double>& steps : {std::vector{30.0}, {30.0, 30.0}}) {
    const auto scan = joined(all, {Along::rows, steps});
    EXPECT_EQ(detector_of(scan->info().scan).rows, 60 + rows);
    EXPECT_GT(numbers_in(scan->info().notes[0]).at(2), 90) << scan->info().notes[0];
  }
  EXPECT_THROW(joined(all, {Along::rows, {-30.0}}), GeometryError) << "one is three times as bright";
}

TEST(JoinScans, LeavesLineIntegralsAsTheyAre) {
  const AllMade all = all_made({{}, {30, 0}});
  for (std::size_t k = 0; k < 2; ++k) {
    std::ranges::copy(lines_at(body(), {30.0 * k, 0}), all[k]->frames.begin());
    all[k]->given.frames[1].shape[0] = all[k]->given.frames[2].shape[0] = 0;
    all[k]->reader = io::open_given_scan(all[k]->given, {});
  }
  const auto scan = joined(all, {Along::rows, {30.0}}, {{"minus-log", false}});
  const Range some{3, 60}, cells{5, 70};
  const io::Frames frames = scan->read(io::FrameKind::projection, {7, 8}, some, cells);
  const std::vector<float> exact = lines_at(body(), {}, bins, 30 + rows);
  const auto* values = reinterpret_cast<const float*>(frames.bytes.data());
  for (Index row = 0; row < some.size(); ++row)
    for (Index bin = 0; bin < cells.size(); ++bin)
      ASSERT_NEAR(values[row * cells.size() + bin], exact[(7 * (30 + rows) + row + 3) * bins + bin + 5],
                  1e-5);
}

TEST(JoinScans, RefusesWhatTellsNothing) {
  const Phantom even = scaled(shepp_logan(), 40, 0.02);   // goes on along z
  for (const double first : {0.0, 3.0, 8.0, 15.0, 21.0})  // each has other noise
    EXPECT_THROW(joined(all_made({{first, 0}, {first + 30, 0}}, even), {Along::rows}), GeometryError)
        << first;
  EXPECT_THROW(joined(all_made({{}, {70, 0}}), {Along::rows}), GeometryError) << "nothing in common";
  EXPECT_THROW(joined(all_made({{}, {30, 0}}), {Along::rows, {90.0}}), GeometryError) << "a gap";
  EXPECT_THROW(joined(all_made({{}, {30, 0}}), {Along::rows, {1.0, 2.0}}), GeometryError) << "two steps";
  EXPECT_THROW(joined(all_made({{}, {30, 0, 3}}), {Along::rows, {30.0}}), GeometryError)
      << "flats of another scan";
}

TEST(JoinScans, RefusesScansThatDiffer) {
  const AllMade all = all_made({{}, {30, 0}});
  const auto refused = [&](auto change) {
    io::GivenScan other = all[1]->given;
    change(other);
    EXPECT_THROW(join_scans({{"a", all[0]->reader}, {"b", io::open_given_scan(other, {})}}, {}, {}),
                 GeometryError);
  };
  refused([](io::GivenScan& scan) { angles_of(scan.scan).pop_back(), --scan.frames[0].shape[0]; });
  refused([](io::GivenScan& scan) { angles_of(scan.scan)[3] += 0.1; });
  refused([](io::GivenScan& scan) { detector_of(scan.scan).bin_pitch = 2; });
  refused([](io::GivenScan& scan) { scan.frames[1].shape[0] = 0; });
  refused([](io::GivenScan& scan) { std::get<ParallelBeam>(scan.scan).view_shift_bins.assign(views, 1.0); });
  refused([](io::GivenScan& scan) {
    scan.scan = ConeBeam{detector_of(scan.scan), angles_of(scan.scan), 100, 150, 0.5 * rows};
  });
}

}  // namespace
}  // namespace tandem::pipeline
