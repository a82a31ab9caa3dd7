#pragma once

#include <optional>

#include "../core/execution.hpp"
#include "../core/public.hpp"
#include "../geometry/scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// How a back-projection reads filtered rows between their bins. The filter compensates for it, so that all
/// models make the same picture (docs/kernels.md).
struct Interpolation {
  /// `joseph` and `footprint` have shapes that depend on the view; `polynomial` is that of Model::fourier,
  /// `taps` that of Model::hierarchical.
  enum class Kind { nearest, linear, joseph, footprint, polynomial, taps };
  Kind kind = Kind::linear;
  double pixel_bins = 1;  ///< width of the shadow of a pixel at the axis, in bins
  int levels = 1;         ///< for `taps`: how many groups a wave of a view passes
  double accuracy = 0;    ///< for `taps`, see `hierarchical_accuracy`
};

/// The model that is taken if none is given.
inline Model usual_model(const Scan& scan) {
  return rows_are_slices(scan) ? Model::pixel_driven : Model::separable_footprint;
}

/// The interpolation of a model, or of the usual one. `how`: what runs, see `resolved`; it matters for
/// variants with their own coefficients. @throws GeometryError for a model that the beam does not have;
/// DeviceError
Interpolation interpolation_of(const Scan& scan, const VolumeGrid& grid, std::optional<Model> model = {},
                               const Execution& how = {}, Device device = Device::cpu());

/// The factor by which interpolation multiplies a wave of f cycles per bin, as the mean over all positions
/// between two bins and over all views. 1 at f = 0.
double mean_response(const Interpolation& interpolation, double f);

/// The factor by which interpolation multiplies the power of white noise at f cycles per bin, if a pixel is
/// as wide as a bin. Kinds that are made of hats count as linear.
double mean_power(const Interpolation& interpolation, double f);

/// The factor by which linear interpolation multiplies the power of white noise at f cycles per bin, as the
/// mean over all positions between two bins.
double noise_of_linear(double f);

}  // namespace tandem
