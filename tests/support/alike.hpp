#pragma once

#include "../../geometry/phantom.hpp"
#include "../../operators/fourier.hpp"
#include "../../pipeline/watch/quality.hpp"
#include "known_scan.hpp"

namespace tandem::test {

/// The windows that fall off smoothly, so that all models show the same detail.
inline constexpr Window smooth_windows[] = {Window::cosine, Window::hamming,  Window::hann,
                                            Window::parzen, Window::blackman, Window::butterworth};

/// The interpolation before filters made up for it: the response has the factor 1.
inline constexpr Interpolation without_factor{Interpolation::Kind::polynomial, 1};

inline double decibels(double rmse) { return -20 * std::log10(rmse); }

/// Modified Shepp-Logan over a detector that covers the diagonal of the grid, with its closed form.
struct AlikeParallel {
  ParallelBeam scan;
  VolumeGrid grid;
  Array y, truth;

  explicit AlikeParallel(Index n, double pitch = 1)
      : scan{.detector = detector_for(n, pitch),
             .angles =
                 regular_angles(static_cast<Index>(std::lround(1.5708 * pitch * static_cast<double>(n))))},
        grid(grid_of(n, n, 1, pitch)),
        y(projection_space(scan)),
        truth(volume_space(grid)) {
    const Phantom phantom = scaled(shepp_logan(), half_width(grid), 1);
    project(phantom, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    voxelise(phantom, grid, {0, 1}, {truth.data(), static_cast<std::size_t>(truth.size())});
  }

  static Detector detector_for(Index n, double pitch) {
    const Index bins = static_cast<Index>(std::ceil(1.4143 * pitch * static_cast<double>(n))) | 1;
    return {.bins = bins, .axis_bin = 0.5 * static_cast<double>(bins - 1)};
  }

  LinearOperator by(Model model, const Filter& filter, Device device = Device::cpu()) const {
    if (model == Model::fourier) return fourier_fbp(scan, grid, filter, device);
    return with(model, filter, interpolation_of(scan, grid, model), device);
  }
  LinearOperator with(Model model, const Filter& filter, const Interpolation& interpolation,
                      Device device = Device::cpu()) const {
    return fbp(projector(scan, grid, model, device), scan, grid, filter, interpolation);
  }
  /// RMSE within the disc.
  double error(const LinearOperator& B) const {
    return quality(on_device(B * on_device(y, B.domain().device()), Device::cpu()), truth).rmse_disc;
  }
};

/// The same for a fan beam, all round.
struct AlikeFan {
  FanBeam scan;
  VolumeGrid grid;
  Array y, truth;

  explicit AlikeFan(Index n)
      : scan(fan_for(n)), grid(grid_of(n, n, 1)), y(projection_space(scan)), truth(cone_volume_space(grid)) {
    const Phantom phantom = scaled(shepp_logan(), half_width(grid), 1);
    project(phantom, scan, {0, 1}, {y.data(), static_cast<std::size_t>(y.size())});
    voxelise(phantom, grid, {0, 1}, {truth.data(), static_cast<std::size_t>(truth.size())});
  }

  /// Magnification 2, so that bins of 2 mm are as large as pixels at the axis.
  static FanBeam fan_for(Index n) {
    const double size = static_cast<double>(n);
    const Index bins = static_cast<Index>(std::ceil(1.55 * size)) | 1;
    return {{{bins, 1, 2, 2, 0.5 * static_cast<double>(bins - 1)},
             regular_angles(static_cast<Index>(std::lround(3.1416 * size)) | 1, 2 * std::numbers::pi),
             3 * size,
             6 * size,
             0}};
  }

  LinearOperator by(Model model, const Filter& filter, Device device = Device::cpu()) const {
    return fdk(scan, grid, filter, model, device);
  }
  LinearOperator with(Model model, const Filter& filter, const Interpolation& interpolation,
                      Device device = Device::cpu()) const {
    return fdk_backprojector(scan, grid, model, device) * ramp_filter(scan, filter, device, interpolation);
  }
  double error(const LinearOperator& B) const {
    return quality(on_device(B * on_device(y, B.domain().device()), Device::cpu()), truth).rmse_disc;
  }
};

}  // namespace tandem::test
