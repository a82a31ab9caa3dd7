// The polynomial that straightens line integrals of a polychromatic beam.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/projector.hpp"
#include "../../pipeline/steps/step.hpp"
#include "../support/reconstructions.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

std::vector<float> straightened(std::vector<float> row, const std::vector<double>& coefficients,
                                const std::vector<float>& span = {}) {
  const auto step = std::ranges::find(steps(), "beam-hardening", &Step::name);
  if (step == steps().end()) throw std::runtime_error("the table has no such step");
  const Reference reference;
  const std::vector<float> spans = span.empty() ? std::vector<float>(row.size(), 1.0f) : span;
  ViewRow of_view{.reference = reference,
                  .row = 0,
                  .counted = {},
                  .integers = false,
                  .flat = {.span = spans, .variance = {}, .floor = {}, .floor_range = {}},
                  .y = row};
  step->on_row(preprocessing_of({{"--beam-hardening", coefficients}}, {0, 1}, 0))(of_view);
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

TEST(BeamHardening, KnowsNoNoise) {
  for (const Step& step : steps())
    if (step.name == "beam-hardening") {
      EXPECT_THROW(
          step.on_row(preprocessing_of({{"--beam-hardening", std::vector<double>{1}}}, {0, 1}, 0, 1, true)),
          GeometryError);
      EXPECT_FALSE(step.asked_for(preprocessing_of({}, {0, 1}, 0)));
    }
}

// ---- A disc of 60 mm in a beam of five lines (1/mm and shares)

constexpr double lines[5][2] = {{.030, .15}, {.024, .25}, {.0205, .25}, {.0185, .2}, {.0172, .15}};
constexpr double radius = 30;  // mm

double measured(double length) {
  double transmission = 0;
  for (const auto& [mu, share] : lines) transmission += share * std::exp(-mu * length);
  return -std::log(transmission);
}

/// What the mean line would measure.
double straight(double length) {
  double mu = 0;
  for (const auto& [of_line, share] : lines) mu += of_line * share;
  return mu * length;
}

/// As a wedge would calibrate it: least squares over all lengths of the disc.
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

/// An independent program in double, which measures at other radii, found 2.48 %, 0.08 % and 0.02 %.
TEST(BeamHardening, TakesTheCuppingAwayByACalibratedPolynomial) {
  std::vector<float> row;
  for (Index b = 0; b < 128; ++b) {
    const double s = (static_cast<double>(b) - 63.5) * 0.6;
    row.push_back(static_cast<float>(measured(2 * std::sqrt(std::max(0.0, radius * radius - s * s)))));
  }
  const double before = cupping(row), two = cupping(straightened(row, fitted(2))),
               three = cupping(straightened(row, fitted(3)));
  std::cout << "cupping " << 100 * before << " %, " << 100 * two << " %, " << 100 * three << " %\n";
  EXPECT_GT(before, 0.01);
  EXPECT_LT(std::abs(two), 1e-3);
  EXPECT_LT(std::abs(three), 1e-3);
}

}  // namespace
}  // namespace tandem::pipeline
