// Scatter that beam stops measure: what is left are the line integrals of the primary photons.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "../../core/error.hpp"
#include "../../counts/preprocess.hpp"
#include "../../counts/steps/step.hpp"
#include "../support/memory_reader.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::floats;
using Ranges = std::vector<Range>;

constexpr Index bins = 21;
constexpr double dark = 7;

/// A number for each bin.
using Profile = std::function<double(double bin)>;

double beam(double bin) { return 900 + 11 * bin; }
double thickness(double bin) { return bin < 6 ? 0 : 2.5 * std::sin(0.2 * (bin - 6)); }

bool is_covered(const Ranges& stops, Index bin) {
  for (const Range& r : stops)
    if (r.first <= bin && bin < r.last) return true;
  return false;
}

/// The counts of a row: a primary beam that stops hold off, and scatter.
std::vector<float> counts_of(const Ranges& stops, const Profile& primary, const Profile& scatter) {
  std::vector<float> row;
  for (Index b = 0; b < bins; ++b)
    row.push_back(static_cast<float>(dark + (is_covered(stops, b) ? 0 : primary(b)) + scatter(b)));
  return row;
}

double primary(double bin) { return beam(bin) * std::exp(-thickness(bin)); }

struct Made {
  std::vector<float> lines;
  Findings findings{};
};

/// What becomes of one row. `flat`: its counts.
Made made_of(const Ranges& stops, const std::vector<float>& counts, const std::vector<float>& flat,
             StepValues values = {}) {
  test::ReferencesInMemory reader(floats({1, 1, bins}, flat),
                                  floats({1, 1, bins}, std::vector<float>(bins, float{dark})));
  option::shadow_columns.set(values, stops);
  values.insert({"scatter", std::string("shadow")});
  const Preprocessing how = preprocessing_of(values, {0, bins}, 0);
  const Reference reference = read_reference(reader, {0, 1}, {0, bins}, how);
  Made made;
  const auto lines = preprocess(floats({1, 1, bins}, counts), reference, how,
                                Space({1, 1, bins}, Blocks::rows), made.findings);
  made.lines.assign(lines.y.data(), lines.y.data() + bins);
  return made;
}

void expect_exact(const Made& made, const Ranges& stops) {
  for (Index b = 0; b < bins; ++b) {
    if (is_covered(stops, b)) continue;
    EXPECT_NEAR(made.lines[b], thickness(static_cast<double>(b)), 20 * tolerance::float_rounding) << b;
  }
  EXPECT_EQ(made.findings.replaced_by("scatter"), 0);
  EXPECT_EQ(made.findings.dead, 0);
}

TEST(Scatter, BehindOneStopIsTheSameInTheWholeRow) {
  const auto none = [](double) { return 0.0; };
  const auto even = [](double) { return 55.0; };
  for (const Ranges& stop : {Ranges{{0, 4}}, Ranges{{18, 21}}, Ranges{{9, 11}}})
    expect_exact(made_of(stop, counts_of(stop, primary, even), counts_of({}, beam, none)), stop);
}

TEST(Scatter, BetweenStopsLiesOnALine) {
  const auto none = [](double) { return 0.0; };
  const auto line = [](double b) { return 20 + 3 * b; };
  const Ranges ends{{0, 1}, {20, 21}}, three{{0, 1}, {8, 11}, {20, 21}};
  for (const Ranges& stops : {ends, three})
    expect_exact(made_of(stops, counts_of(stops, primary, line), counts_of({}, beam, none)), stops);
  // beyond the middle of the last one it goes on as it is there
  const auto level = [&](double b) { return line(std::max(1.5, std::min(b, 17.5))); };
  const Ranges wide{{0, 4}, {15, 21}};
  const auto seen = counts_of(wide, primary, [&](double b) { return b < 4 ? line(1.5) : line(17.5); });
  auto counts = counts_of(wide, primary, level);
  for (Index b = 0; b < bins; ++b)
    if (is_covered(wide, b)) counts[b] = seen[b];
  expect_exact(made_of(wide, counts, counts_of({}, beam, none)), wide);
}

/// A stop that stands in the beam of the flats, too, tells their scatter.
TEST(Scatter, OfFlatsIsTakenFromThem) {
  const Ranges stops{{0, 1}, {20, 21}};
  const auto line = [](double b) { return 90 - 2 * b; };
  const auto glare = [](double b) { return 30 + b; };
  expect_exact(made_of(stops, counts_of(stops, primary, line), counts_of(stops, beam, glare)), stops);
}

/// Rows end at a stop as at dead cells.
TEST(Scatter, LeavesNoValueBehindTheStop) {
  const auto even = [](double) { return 55.0; };
  const Ranges stops{{0, 3}, {9, 12}};
  const Made made =
      made_of(stops, counts_of(stops, primary, even), counts_of({}, beam, [](double) { return 0.0; }));
  for (Index b = 0; b < 3; ++b) EXPECT_EQ(made.lines[b], made.lines[3]);
  for (Index b = 9; b < 12; ++b)
    EXPECT_NEAR(made.lines[b], made.lines[8] + 0.25 * (b - 8) * (made.lines[12] - made.lines[8]),
                tolerance::float_rounding);
  EXPECT_EQ(made.findings.replaced_by("dead-cells"), 6);
}

TEST(Scatter, LeavesATenthOfTheCounts) {
  const Ranges stop{{0, 3}};
  const auto even = [](double) { return 100.0; };
  auto counts = counts_of(stop, primary, even);
  counts[10] = dark + 60, counts[12] = dark - 1;
  const Made made = made_of(stop, counts, counts_of({}, beam, [](double) { return 0.0; }));
  EXPECT_NEAR(made.lines[10], std::log(beam(10) / 6), 20 * tolerance::float_rounding);
  EXPECT_NEAR(made.lines[12], std::log(beam(12) / 0.5), 20 * tolerance::float_rounding);
  EXPECT_EQ(made.findings.replaced_by("scatter"), 2);
}

/// 1 / P from a flat without noise becomes (P + S) / P^2.
TEST(Scatter, StaysInTheNoise) {
  const Ranges stop{{0, 3}};
  const auto counts = counts_of(stop, primary, [](double) { return 55.0; });
  test::ReferencesInMemory reader(floats({1, 1, bins}, counts_of(stop, beam, [](double) { return 20.0; })),
                                  floats({1, 1, bins}, std::vector<float>(bins, float{dark})));
  Preprocessing how =
      preprocessing_of({{"scatter", std::string("shadow")}, {"shadow:columns", stop}}, {0, bins}, 0, 1, true);
  how.weights = how.keeps_variances = true;
  const Reference reference = read_reference(reader, {0, 1}, {0, bins}, how);
  Findings findings;
  const auto made =
      preprocess(floats({1, 1, bins}, counts), reference, how, Space({1, 1, bins}, Blocks::rows), findings);
  double sum = 0;
  for (Index b = 3; b < bins; ++b) {
    const double p = primary(static_cast<double>(b)), f = beam(static_cast<double>(b)),
                 variance = (p + 55) / (p * p) + (f + 20) / (f * f);
    EXPECT_NEAR(made.weights->data()[b] / variance, 1, 1e-5) << b;
    sum += variance;
  }
  EXPECT_EQ(made.weights->data()[1], INFINITY);
  EXPECT_NEAR(made.noise_norms[0] / std::sqrt(sum), 1, 1e-5);
}

/// Cells of 2 x 2: the third column is covered in part, so it measures nothing, and has no value.
TEST(Scatter, IsMeasuredInWholeCells) {
  constexpr Index wide = 8;
  std::vector<float> row{20, 20, 20, 500, 220, 220, 120, 120}, frame(row);
  frame.insert(frame.end(), row.begin(), row.end());
  test::ReferencesInMemory reader(floats({1, 2, wide}, std::vector<float>(2 * wide, 800)),
                                  floats({0, 2, wide}, {}));
  const Preprocessing how = preprocessing_of(
      {{"scatter", std::string("shadow")}, {"shadow:columns", Ranges{{0, 3}}}}, {0, wide}, 1);
  EXPECT_EQ(how.shadow_bins, (Ranges{{0, 1}}));
  EXPECT_EQ(how.covered_bins, (Ranges{{0, 2}}));
  const Reference reference = read_reference(reader, {0, 2}, {0, wide}, how);
  Findings findings;
  const auto made =
      preprocess(floats({1, 2, wide}, frame), reference, how, Space({1, 1, 4}, Blocks::rows), findings);
  const double lines[] = {std::log(4), std::log(4), std::log(4), std::log(8)};
  for (int b = 0; b < 4; ++b) EXPECT_NEAR(made.y.data()[b], lines[b], 10 * tolerance::float_rounding) << b;
}

/// A cell of the stop without a number, in the dark or in the view, tells nothing.
TEST(Scatter, IsNotThatOfBrokenCells) {
  const Ranges stop{{0, 4}};
  const auto even = [](double) { return 55.0; };
  const auto counts = counts_of(stop, primary, even);
  auto flat = counts_of(stop, beam, [](double) { return 0.0; });
  flat[1] = NAN;
  auto strange = counts;
  strange[1] = 5000;
  expect_exact(made_of(stop, strange, flat), stop);
}

/// Cells behind a stop have little beam, and are no bad cells for that.
TEST(Scatter, IsMeasuredBesideRepairedCells) {
  const Ranges stop{{0, 4}};
  const auto even = [](double) { return 55.0; };
  expect_exact(
      made_of(stop, counts_of(stop, primary, even), counts_of(stop, beam, even), {{"repair-cells", true}}),
      stop);
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Scatter, RefusesWhatIsNoShadow) {
  const auto flat = counts_of({}, beam, [](double) { return 0.0; });
  const auto counts = counts_of({}, primary, [](double) { return 30.0; });
  EXPECT_NE(refusal([&] {
              made_of({{0, 4}}, counts, flat);
            }).find("not below that of the other columns"),
            std::string::npos);
  // a view without any beam is no reason
  EXPECT_EQ(refusal([&] { made_of({{0, 4}}, std::vector<float>(bins, float{dark}), flat); }), "");
}

TEST(Scatter, RefusesColumnsThatAreNotThere) {
  const auto fault = [](Ranges columns) {
    return refusal([&] {
      preprocessing_of({{"scatter", std::string("shadow")}, {"shadow:columns", columns}}, {0, bins}, 0);
    });
  };
  EXPECT_EQ(fault({{0, 4}}), "");
  EXPECT_NE(fault({{18, 22}}).find("shadow:columns=18:22: empty, or outside the columns 0:21"),
            std::string::npos);
  EXPECT_NE(fault({{0, 21}}).find("no other column"), std::string::npos);
  EXPECT_NE(fault({{0, 4}, {3, 6}}).find("overlap"), std::string::npos);
  const auto other = [](const StepValues& values) {
    return refusal([&] { preprocessing_of(values, {0, bins}, 0); });
  };
  EXPECT_NE(other({{"scatter", std::string("shadow")}}).find("give shadow:columns=A:B"), std::string::npos);
  EXPECT_NE(other({{"shadow:columns", Ranges{{0, 4}}}}).find("go together"), std::string::npos);
  EXPECT_NE(
      other({{"scatter", std::string("shadow")}, {"shadow:columns", Ranges{{0, 4}}}, {"minus-log", false}})
          .find("needs transmissions"),
      std::string::npos);
}

}  // namespace
}  // namespace tandem::pipeline
