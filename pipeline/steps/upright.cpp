// Frames of a cone beam whose detector is rolled, or whose axis is tilted along the beam, become those of an
// upright detector that faces the axis. The same rays meet both, so this is exact but for the interpolation:
// bicubic (Keys, IEEE Transactions on Acoustics, Speech, and Signal Processing 29, 1153, 1981), with what is
// beyond the edges as at the edges.

#include <algorithm>
#include <array>
#include <cmath>

#include "../../core/units.hpp"
#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

struct Place {
  double row, bin;
};

/// From a place on the upright detector to that where its ray meets the real one.
class ToReal {
 public:
  explicit ToReal(const DetectorPose& pose)
      : of_(pose.upright),
        roll_cos_(std::cos(pose.roll)),
        roll_sin_(std::sin(pose.roll)),
        tilt_cos_(std::cos(pose.tilt)),
        tilt_sin_(std::sin(pose.tilt)) {}

  Place operator()(double row, double bin) const {
    const Detector& d = of_.detector;
    const double U = (bin - d.axis_bin) * d.bin_pitch, V = (row - of_.midplane_row) * d.row_pitch;
    // the ray in the frame of the beam: (U, y, z) from the source, where the real detector is at y = sdd
    const double y = of_.sdd * tilt_cos_ + V * tilt_sin_, z = V * tilt_cos_ - of_.sdd * tilt_sin_;
    const double sdd = of_.sdd / tilt_cos_, u = U * sdd / y, v = z * sdd / y;
    const double principal_row = of_.midplane_row + sdd * tilt_sin_ / d.row_pitch;
    return {principal_row + (v * roll_cos_ - u * roll_sin_) / d.row_pitch,
            d.axis_bin + (u * roll_cos_ + v * roll_sin_) / d.bin_pitch};
  }

 private:
  const ConeBeam& of_;
  double roll_cos_, roll_sin_, tilt_cos_, tilt_sin_;
};

/// The weights of the four neighbours of a place that is `part` beyond the second one.
std::array<double, 4> cubic(double part) {
  const double t = part, t2 = t * t, t3 = t2 * t;
  return {-0.5 * t3 + t2 - 0.5 * t, 1.5 * t3 - 2.5 * t2 + 1, -1.5 * t3 + 2 * t2 + 0.5 * t,
          0.5 * t3 - 0.5 * t2};
}

float value_at(const std::vector<float>& frame, Index rows, Index bins, Place at) {
  const double row = std::clamp<double>(at.row, 0, static_cast<double>(rows - 1)),
               bin = std::clamp<double>(at.bin, 0, static_cast<double>(bins - 1));
  const auto first_row = static_cast<Index>(row), first_bin = static_cast<Index>(bin);
  const auto of_row = cubic(row - static_cast<double>(first_row)),
             of_bin = cubic(bin - static_cast<double>(first_bin));
  double sum = 0;
  for (Index i = 0; i < 4; ++i) {
    const float* line = frame.data() + std::clamp<Index>(first_row + i - 1, 0, rows - 1) * bins;
    double along = 0;
    for (Index k = 0; k < 4; ++k)
      along += of_bin[static_cast<std::size_t>(k)] * line[std::clamp<Index>(first_bin + k - 1, 0, bins - 1)];
    sum += of_row[static_cast<std::size_t>(i)] * along;
  }
  return static_cast<float>(sum);
}

Index make_upright(Projection& of, const DetectorPose& pose) {
  const ToReal real(pose);
  const Image<float>& y = of.y;
  std::vector<float> came(static_cast<std::size_t>(y.n1 * y.n2));
  for (Index r = 0; r < y.n1; ++r) std::copy_n(&y(0, r, 0), y.n2, came.data() + r * y.n2);
  const Index first = (of.reference.first_row - pose.first_row) / of.reference.rows_together;  // of the scan
  for (Index r = 0; r < y.n1; ++r)
    for (Index b = 0; b < y.n2; ++b) {
      Place at = real(static_cast<double>(first + r), static_cast<double>(b));
      at.row -= static_cast<double>(first);
      y(0, r, b) = value_at(came, y.n1, y.n2, at);
    }
  return 0;
}

/// How many rows the farthest corner moves, and those that the interpolation takes beyond.
RowMargin margin(const Preprocessing& how) {
  const Detector& d = how.pose->upright.detector;
  const ToReal real(*how.pose);
  double most = 0;
  for (const double row : {0.0, static_cast<double>(d.rows - 1)})
    for (const double bin : {0.0, static_cast<double>(d.bins - 1)})
      most = std::max(most, std::abs(real(row, bin).row - row));
  return {static_cast<Index>(std::ceil(most)) + 2};
}

}  // namespace

/// Behind the stripes, which stay in the columns of the detector.
Step upright() {
  return {
      .name = "upright",
      .help = "cone beam: frames of a rolled detector or a tilted axis become those of an upright one",
      .options = {{"--axis-tilt",
                   "cone beam: degrees by which the upper end of the axis leans towards the detector, in the "
                   "plane of the beam",
                   Number{-10, 10}}},
      .makes_new_noise = true,
      .on_projection = [](const Preprocessing& how) -> ProjectionWork {
        if (!how.pose) return {};
        return [pose = *how.pose](Projection& of) { return make_upright(of, pose); };
      },
      .margin = margin,
      .bytes_a_thread = [](const Preprocessing&,
                           Shape shape) { return 4.0 * static_cast<double>(shape[1] * shape[2]); }};
}

}  // namespace tandem::pipeline::step
