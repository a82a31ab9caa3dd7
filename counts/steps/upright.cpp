// Frames of a cone beam whose detector is rolled, or whose axis is tilted along the beam, become those of an
// upright detector that faces the axis. The same rays meet both, so this is exact but for the interpolation.

#include <algorithm>
#include <cmath>
#include <vector>

#include "../../core/rounding.hpp"
#include "../../kernels/frames.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<Number> option::axis_tilt{
    "axis-tilt",
    "cone beam: degrees by which the upper end of the axis leans towards the detector, in the "
    "plane of the beam",
    Number{-10, 10, "degrees"}};

namespace {

/// For frames that begin with so many rows of the scan left out.
kernels::UprightRays rays_of(const DetectorPose& pose, Index first) {
  const ConeBeam& upright = pose.upright;
  const Detector& d = upright.detector;
  return {.bin_pitch = d.bin_pitch,
          .row_pitch = d.row_pitch,
          .axis_bin = d.axis_bin,
          .midplane_row = upright.midplane_row - first,
          .sdd = upright.sdd,
          .roll_cos = std::cos(pose.roll),
          .roll_sin = std::sin(pose.roll),
          .tilt_cos = std::cos(pose.tilt),
          .tilt_sin = std::sin(pose.tilt)};
}

kernels::UprightRays rays_of(const DetectorPose& pose, const Reference& reference) {
  return rays_of(pose, (reference.first_row - pose.first_row) / reference.rows_together);
}

Index make_upright(Projection& of, const kernels::UprightRays& real) {
  const Image<float>& y = of.y;
  std::vector<float> came(y.n1 * y.n2);
  for (Index r = 0; r < y.n1; ++r) std::copy_n(&y(0, r, 0), y.n2, came.data() + r * y.n2);
  for (Index r = 0; r < y.n1; ++r)
    for (Index b = 0; b < y.n2; ++b) {
      const kernels::DetectorPlace at = real(r, b);
      const kernels::CubicTaps rows(at.row, y.n1), bins(at.bin, y.n2);
      y(0, r, b) = kernels::bicubic(rows, bins, [&](Index row, Index bin) { return came[row * y.n2 + bin]; });
    }
  return 0;
}

/// How many rows places move, and those that the interpolation takes beyond. In a row, places rise along a
/// line, so that an end moves farthest.
RowMargin upright_margin(const Preprocessing& how) {
  const Detector& d = how.pose->upright.detector;
  const kernels::UprightRays real = rays_of(*how.pose, 0);
  double most = 0;
  for (Index row = 0; row < d.rows; ++row)
    for (const Index bin : {Index{0}, d.bins - 1}) {
      const double at = row;
      most = std::max(most, std::abs(real(at, bin).row - at));
    }
  return {ceil_index(most) + 2};
}

GpuWork upright_on_gpu(const Preprocessing& how) {
  if (!how.pose) return {};
  return [pose = *how.pose](GpuData& data) {
    kernels::frames(data.stream.device())->make_upright(rays_of(pose, data.reference), data.y, data.stream);
    return std::optional<Index>(0);
  };
}

double upright_gpu_bytes(const Preprocessing&, Shape shape) {
  return 4.0 * (kernels::upright_at_once(shape[0], shape[1], shape[2]) * shape[1] * shape[2]);
}

}  // namespace

/// This step comes behind the stripes, which stay in the columns of the detector.
Step upright_step() {
  return {.name = "upright",
          .help = "cone beam: frames of a rolled detector or a tilted axis become those of an upright one",
          .options = {option::axis_tilt},
          .makes_new_noise = true,
          .on_gpu = upright_on_gpu,
          .gpu_bytes = upright_gpu_bytes,
          .on_projection = [](const Preprocessing& how) -> ProjectionWork {
            if (!how.pose) return {};
            return
                [pose = *how.pose](Projection& of) { return make_upright(of, rays_of(pose, of.reference)); };
          },
          .margin = upright_margin,
          .bytes_a_thread = [](const Preprocessing&, Shape shape) { return 4.0 * (shape[1] * shape[2]); }};
}

}  // namespace tandem::pipeline
