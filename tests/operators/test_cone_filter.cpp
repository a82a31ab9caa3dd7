// The ramp filter of a cone beam against its formula.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../operators/adjointness.hpp"
#include "../../operators/vector.hpp"
#include "../support/dense.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

/// A whole turn, centred and with the detector to either side, and an arc.
std::vector<ConeBeam> scans() {
  const ConeBeam centred{{31, 5, 0.9, 1.3, 15.2}, regular_angles(19, whole_turn), 60, 100, 1.7};
  ConeBeam left = centred, right = centred, arc = centred;
  left.detector.axis_bin = 6.4, right.detector.axis_bin = 25.1;
  arc.angles = regular_angles(19, 3.6);
  return {centred, left, right, arc};
}

double cosine(const ConeBeam& scan, Index row, Index bin) {
  const Detector& d = scan.detector;
  return scan.sdd / std::hypot(scan.sdd, (static_cast<double>(bin) - d.axis_bin) * d.bin_pitch,
                               (static_cast<double>(row) - scan.midplane_row) * d.row_pitch);
}

/// Eq. 61 of Kak and Slaney between weights, in double, where rows lie on the wide detector.
Eigen::VectorXd by_formula(const ConeBeam& scan, const Array& y) {
  const ConeBeam wide = filtered_scan(scan);
  const Index rows = scan.detector.rows, bins = scan.detector.bins, wide_bins = wide.detector.bins,
              first = std::lround(wide.detector.axis_bin - scan.detector.axis_bin),
              below = std::lround(wide.midplane_row - scan.midplane_row);
  const std::vector<float> shares = ray_shares(scan);
  const double pitch = scan.detector.bin_pitch / scan.magnification();
  const auto kernel = [](Index n) {
    return n == 0 ? 0.25 : n % 2 == 0 ? 0.0 : -1 / std::pow(std::numbers::pi * static_cast<double>(n), 2);
  };
  Eigen::VectorXd out(views_of(scan) * wide.detector.rows * wide_bins);
  for (Index wide_line = 0; wide_line < views_of(scan) * wide.detector.rows; ++wide_line)
    for (Index b = 0; b < wide_bins; ++b) {
      const Index view = wide_line / wide.detector.rows, wide_row = wide_line % wide.detector.rows,
                  row = std::clamp<Index>(wide_row - below, 0, rows - 1), line = view * rows + row;
      double sum = 0;
      for (Index k = 0; k < bins; ++k)
        sum += kernel(b - first - k) * cosine(scan, row, k) *
               static_cast<double>(shares[static_cast<std::size_t>(view * bins + k)]) *
               static_cast<double>(y.data()[line * bins + k]);
      out[wide_line * wide_bins + b] = cosine(wide, wide_row, b) * sum / pitch;
    }
  return out;
}

TEST(ConeFilter, IsTheRampBetweenWeights) {
  for (const ConeBeam& scan : scans()) {
    const LinearOperator F = ramp_filter(scan);
    EXPECT_EQ(F.range(), projection_space(filtered_scan(scan)));
    const Array y = random_array(F.domain(), 3);
    const Eigen::VectorXd expected = by_formula(scan, y);
    EXPECT_LE((column(F * y) - expected).norm() / expected.norm(), tolerance::filtered_row)
        << "axis at bin " << scan.detector.axis_bin;
  }
}

TEST(ConeFilter, HasItsTransposeAndAddsToWhatIsThere) {
  Stream& stream = default_stream(Device::cpu());
  for (const ConeBeam& scan : scans())
    for (const LinearOperator& F : {ramp_filter(scan), adjoint(ramp_filter(scan))}) {
      EXPECT_LE(adjointness(F).mismatch, tolerance::mismatch);
      const Array y = random_array(F.domain(), 3), truth = F * y;
      Array out(F.range());
      fill(out, std::numeric_limits<float>::quiet_NaN(), stream);
      F.apply(1, y, 0, out, stream);
      F.apply(2, y, -1, out, stream);  // 2 F y - F y
      EXPECT_LE(relative_error(out, truth), tolerance::axpby);
    }
}

}  // namespace
}  // namespace tandem::test
