#include "interpolation.hpp"

#include <cmath>
#include <numbers>

#include "../core/error.hpp"
#include "../kernels/hierarchical.hpp"
#include "../kernels/parallel.hpp"
#include "hierarchical.hpp"

namespace tandem {

namespace {

using std::numbers::pi;
using Kind = Interpolation::Kind;

/// The response of a box that is one bin wide.
double sinc(double f) { return f == 0 ? 1 : std::sin(pi * f) / (pi * f); }
double sinc2(double f) { return sinc(f) * sinc(f); }

/// The number of groups by which waves pass fewer, as measured. The reason is that positions near the middle
/// of a group hardly move in it, and so are not interpolated (docs/kernels/hierarchical.md).
constexpr double groups_not_passed = 0.2;

/// The product over the steps along a row: the view is interpolated, then each group; bins may also be
/// averaged.
template <class Of>
double product_of_taps(const Interpolation& interpolation, double f, const Of& of) {
  const kernels::HierarchicalTaps& taps =
      kernels::hierarchical_taps(kernels::hierarchical_design(interpolation.accuracy));
  const bool averaged = interpolation.pixel_bins > kernels::much_wider;
  const double in_columns = averaged ? f * interpolation.pixel_bins : f, view = of(taps.of_views, in_columns);
  return (averaged ? view * view : view) *
         std::pow(of(taps.across, in_columns), interpolation.levels - groups_not_passed);
}

/// The mean over the first eighth of a turn, which the others repeat.
template <class At>
double mean_over_views(const At& at) {
  constexpr int count = 32;
  double sum = 0;
  for (int k = 0; k < count; ++k) {
    const double angle = 0.25 * pi * (k + 0.5) / count;
    sum += at(std::cos(angle), std::sin(angle));
  }
  return sum / count;
}

}  // namespace

namespace {

Interpolation read_by(const ParallelBeam& scan, const VolumeGrid& grid, Model model, const Execution& how,
                      Device device) {
  require<GeometryError>(model != Model::separable_footprint && model != Model::hierarchical,
                         "ParallelBeam: ", name_of(model), " is a model of cone beams");
  const double pixel_bins = grid.pitch[0] / scan.detector.bin_pitch;
  if (model == Model::fourier) return {Kind::polynomial, pixel_bins};
  if (model == Model::joseph) return {Kind::joseph, pixel_bins};
  const kernels::ParallelVariant* row = find(kernels::parallel(device), how.variant);
  return {row && row->nearest ? Kind::nearest : Kind::linear, pixel_bins};
}

Interpolation read_by(const ConeBeam& scan, const VolumeGrid& grid, Model model, const Execution& how,
                      Device device) {
  require<GeometryError>(model != Model::fourier, "cone beam: the Fourier model is one of parallel beams");
  const double pixel_bins = grid.pitch[0] * scan.magnification() / scan.detector.bin_pitch;
  if (model == Model::hierarchical)
    return {Kind::taps, pixel_bins, kernels::hierarchical_levels(scan, kernels::grouping_on(device)),
            hierarchical_accuracy(how)};
  return {model == Model::pixel_driven ? Kind::linear
          : model == Model::joseph     ? Kind::joseph
                                       : Kind::footprint,
          pixel_bins};
}

Interpolation read_by(const FlexibleBeam& scan, const VolumeGrid& grid, Model, const Execution&, Device) {
  return {Kind::footprint, grid.pitch[0] * magnification(scan) / scan.detector.bin_pitch};
}

}  // namespace

Interpolation interpolation_of(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model,
                               const Execution& how, Device device) {
  return std::visit(
      [&](const auto& s) { return read_by(s, grid, model.value_or(usual_model(scan)), how, device); }, scan);
}

double mean_response(const Interpolation& interpolation, double f) {
  const double shadow = interpolation.pixel_bins * f;
  switch (interpolation.kind) {
    case Kind::nearest:
      return sinc(f);
    case Kind::linear:
      return sinc2(f);
    case Kind::joseph:
      return mean_over_views([shadow](double c, double) { return sinc2(c * shadow); });
    case Kind::footprint:
      return sinc(f) *
             mean_over_views([shadow](double c, double s) { return sinc(c * shadow) * sinc(s * shadow); });
    case Kind::taps:
      return product_of_taps(interpolation, f, [](const kernels::Taps& taps, double at) {
        return kernels::mean_response(taps, at);
      });
    case Kind::polynomial:
      break;
  }
  return 1;
}

double mean_power(const Interpolation& interpolation, double f) {
  switch (interpolation.kind) {
    case Kind::nearest:
    case Kind::polynomial:
      return 1;
    case Kind::taps:
      return product_of_taps(
          {Kind::taps, 1, interpolation.levels, interpolation.accuracy}, f,
          [](const kernels::Taps& taps, double at) { return kernels::mean_power(taps, at); });
    default:
      return noise_of_linear(f);
  }
}

double noise_of_linear(double f) { return (2 + std::cos(2 * pi * f)) / 3; }

}  // namespace tandem
