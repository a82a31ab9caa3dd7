// The polynomial that straightens line integrals of a polychromatic beam.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../counts/steps/step.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"
#include "../support/temporary_folder.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

std::vector<float> straightened(std::vector<float> row, const std::vector<double>& coefficients,
                                const std::vector<float>& span = {}, std::span<float> variance = {}) {
  const auto step = std::ranges::find(steps(), "beam-hardening", &Step::name);
  if (step == steps().end()) throw std::runtime_error("the table has no such step");
  const Reference reference;
  const std::vector<float> spans = span.empty() ? std::vector<float>(row.size(), 1.0f) : span;
  ViewRow of_view{.reference = reference,
                  .row = 0,
                  .counted = {},
                  .integers = false,
                  .flat = {.span = spans, .variance = {}, .floor = {}, .floor_range = {}},
                  .y = row,
                  .variance = variance};
  step->on_row(preprocessing_of({{"beam-hardening", coefficients}}, {0, 1}, 0))(of_view);
  return row;
}

TEST(BeamHardening, IsThePolynomialWithoutAConstant) {
  const std::vector<float> row = straightened({0, 1, 2, -0.5f}, {1, 0.25, 0.5});
  EXPECT_EQ(row, (std::vector<float>{0, 1.75f, 7, -0.5f + 0.0625f - 0.0625f}));
}

TEST(BeamHardening, RefusesAPolynomialThatFallsWhereThereAreData) {
  EXPECT_NO_THROW(straightened({4.9f}, {1, -0.1}));  // it falls from 5 on
  try {
    straightened({1, 5.1f}, {1, -0.1});
    FAIL() << "accepted";
  } catch (const GeometryError& e) {
    EXPECT_NE(std::string(e.what()).find("falls from 5"), std::string::npos) << e.what();
  }
  EXPECT_THROW(straightened({1}, {-1}), GeometryError);
  // dead cells have no line integral yet
  EXPECT_NO_THROW(straightened({NAN, 1, INFINITY}, {1, -0.1}, {0, 1, 0}));
}

// ---- A disc of 60 mm in a beam of five lines (1/mm and shares)

constexpr double lines[5][2] = {{.030, .15}, {.024, .25}, {.0205, .25}, {.0185, .2}, {.0172, .15}};
constexpr double radius = 30;  // mm

double measured(double length) {
  double transmission = 0;
  for (const auto& [mu, share] : lines) transmission += share * std::exp(-mu * length);
  return -std::log(transmission);
}

/// The line integral that the mean line would have.
double straight(double length) {
  double mu = 0;
  for (const auto& [of_line, share] : lines) mu += of_line * share;
  return mu * length;
}

/// The coefficients that a wedge would give: least squares over all lengths of the disc.
std::vector<double> fitted(int terms) {
  constexpr int steps_of_wedge = 200;
  Eigen::MatrixXd powers(steps_of_wedge, terms);
  Eigen::VectorXd wanted(steps_of_wedge);
  for (int i = 0; i < steps_of_wedge; ++i) {
    const double length = 2 * radius * (i + 1) / steps_of_wedge, q = measured(length);
    wanted[i] = straight(length);
    for (int k = 0; k < terms; ++k) powers(i, k) = std::pow(q, k + 1);
  }
  const Eigen::VectorXd c = powers.colPivHouseholderQr().solve(wanted);
  return {c.begin(), c.end()};
}

/// How much lower the middle reads than the outer part of the disc, relative, beside what FBP makes of the
/// straight line integrals.
double cupping(const std::vector<float>& row) {
  const ParallelBeam scan{{128, 1, 0.6, 0.6, 63.5}, test::regular_angles(180), {}};
  const VolumeGrid grid = fitting_grid(scan);
  const auto ring_over_middle = [&](const std::vector<float>& r) {
    Array y(projection_space(scan));
    for (Index v = 0; v < 180; ++v) std::copy(r.begin(), r.end(), y.data() + v * 128);
    const Array x = fbp(projector(scan, grid), scan, grid) * y;
    double sums[2] = {}, counts[2] = {};
    for (Index iy = 0; iy < 128; ++iy)
      for (Index ix = 0; ix < 128; ++ix) {
        const double at = std::hypot(grid.x(static_cast<double>(ix)), grid.y(static_cast<double>(iy)));
        const int part = at < 0.2 * radius ? 0 : at > 0.75 * radius && at < 0.9 * radius ? 1 : -1;
        if (part >= 0) sums[part] += static_cast<double>(x.data()[iy * 128 + ix]), ++counts[part];
      }
    return sums[1] / counts[1] / (sums[0] / counts[0]);
  };
  std::vector<float> ideal;
  for (Index b = 0; b < 128; ++b) {
    const double s = (static_cast<double>(b) - 63.5) * 0.6;
    ideal.push_back(static_cast<float>(straight(2 * std::sqrt(std::max(0.0, radius * radius - s * s)))));
  }
  return ring_over_middle(row) / ring_over_middle(ideal) - 1;
}

/// The line integrals of the disc, as they are measured.
std::vector<float> measured_row() {
  std::vector<float> row;
  for (Index b = 0; b < 128; ++b) {
    const double s = (static_cast<double>(b) - 63.5) * 0.6;
    row.push_back(static_cast<float>(measured(2 * std::sqrt(std::max(0.0, radius * radius - s * s)))));
  }
  return row;
}

/// An independent program in double, which measures at other radii, found 2.48 %, 0.08 % and 0.02 %.
TEST(BeamHardening, TakesTheCuppingAwayByACalibratedPolynomial) {
  const std::vector<float> row = measured_row();
  const double before = cupping(row), two = cupping(straightened(row, fitted(2))),
               three = cupping(straightened(row, fitted(3)));
  std::cout << "cupping " << 100 * before << " %, " << 100 * two << " %, " << 100 * three << " %\n";
  EXPECT_GT(before, 0.01);
  EXPECT_LT(std::abs(two), 1e-3);
  EXPECT_LT(std::abs(three), 1e-3);
}

/// The coefficients that follow from the lines of a file.
std::vector<double> from_file(const std::string& option, const std::string& lines_of_file) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "file.txt") << lines_of_file;
  const Preprocessing how = preprocessing_of(
      {{"beam-hardening", std::vector<double>{}}, {option, (folder / "file.txt").string()}}, {0, 1}, 0);
  return option::beam_hardening.of(how.values).value();
}

TEST(BeamHardening, IsFittedToAWedge) {
  std::ostringstream wedge;
  wedge << "# mm, line integral\n0 0\n";
  for (int step = 1; step <= 12; ++step) wedge << 5.5 * step << ' ' << measured(5.5 * step) << '\n';
  const std::vector<double> c = from_file("wedge:file", wedge.str());
  ASSERT_EQ(c.size(), 3u);
  EXPECT_EQ(c[0], 1);
  const double left = cupping(straightened(measured_row(), c));
  std::cout << "cupping after a fit to a wedge: " << 100 * left << " %\n";
  EXPECT_LT(std::abs(left), 1e-3);
  EXPECT_EQ(from_file("wedge:file", "1,2\n2;4\n3\t6\n4 8\n").size(), 2u);
  for (const double of_line : from_file("wedge:file", "1 2\n2 4\n3 6\n4 8\n5 10\n6 12\n"))
    EXPECT_NEAR(of_line, of_line > 0.5 ? 1 : 0, 1e-9);
}

/// Energies are those of the table, so that attenuations are those of its lines.
TEST(BeamHardening, IsFittedToWaterInASpectrum) {
  const std::vector<double> c = from_file("spectrum:file", "30 0.1\n40 0.3\n50 0.25\n60 0.2\n80 0.15\n");
  const double of_water[5][2] = {{.3756, .1}, {.2683, .3}, {.2269, .25}, {.2059, .2}, {.1837, .15}};
  for (const double cm : {0.5, 2.0, 7.0, 15.0, 24.0}) {
    double transmission = 0, thin = 0;
    for (const auto& [mu, share] : of_water) transmission += share * std::exp(-mu * cm), thin += share * mu;
    const double q = -std::log(transmission);
    double p = 0;
    for (std::size_t k = c.size(); k > 0; --k) p = (p + c[k - 1]) * q;
    EXPECT_NEAR(p / (thin * cm), 1, 1e-3) << q;
  }
  const std::vector<double> one = from_file("spectrum:file", "57.3 2\n");  // any share
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_NEAR(one[k], k == 0 ? 1 : 0, 1e-6);
}

TEST(BeamHardening, RefusesNoiseThatNoWeightHolds) {
  std::vector<float> variance{0.01f, INFINITY, 0};
  straightened({1, 1, 1}, {1, 0.5}, {}, variance);
  EXPECT_EQ(variance, (std::vector<float>{0.04f, INFINITY, 0}));
  for (const double first : {1e-20, 1e20}) try {
      straightened({1}, {first}, {}, std::span(variance).first(1));
      ADD_FAILURE() << "accepted " << first;
    } catch (const GeometryError& error) {
      EXPECT_NE(std::string(error.what()).find("give coefficients with C1 near 1"), std::string::npos);
    }
}

TEST(BeamHardening, RefusesFilesThatSayNothing) {
  const auto refused = [](const std::string& option, const std::string& text) {
    try {
      from_file(option, text);
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string wedge = "wedge:file", spectrum = "spectrum:file";
  EXPECT_NE(refused(wedge, "1 2\n2 3\n3 4\n").find("at least 4"), std::string::npos);
  EXPECT_NE(refused(wedge, "1 2\n2 1\n3 4\n4 5\n").find("grow"), std::string::npos);
  EXPECT_NE(refused(wedge, "1 -2\n").find("positive"), std::string::npos);
  EXPECT_NE(refused(wedge, "1\n").find("line 1"), std::string::npos);
  EXPECT_NE(refused(wedge, "1 2 3\n").find("line 1"), std::string::npos);
  EXPECT_NE(refused(wedge, "# none\n").find("holds nothing"), std::string::npos);
  EXPECT_NE(refused(spectrum, "50000 1\n").find("50000 keV"), std::string::npos);
  EXPECT_NE(refused(spectrum, "50 -1\n").find("share"), std::string::npos);
  EXPECT_NE(refused(spectrum, "50 0\n").find("all shares"), std::string::npos);
  EXPECT_THROW(preprocessing_of({{wedge, "gone.txt"}}, {0, 1}, 0), FileError);
  EXPECT_THROW(preprocessing_of({{"beam-hardening", std::vector<double>{}}}, {0, 1}, 0), GeometryError);
}

}  // namespace
}  // namespace tandem::pipeline
