#pragma once

#include "../core/execution.hpp"
#include "../core/public.hpp"
#include "../geometry/beams/flexible.hpp"
#include "../geometry/views.hpp"

namespace TANDEM_PUBLIC tandem {

/// How a back-projection reads filtered rows between their bins. The filter makes up for it, so that all
/// models make the same picture (docs/kernels.md).
struct Interpolation {
  /// `joseph` and `footprint` have shapes that depend on the view; `polynomial` is that of Model::fourier,
  /// `taps` that of Model::hierarchical.
  enum class Kind { nearest, linear, joseph, footprint, polynomial, taps };
  Kind kind = Kind::linear;
  double pixel_bins = 1;  ///< width of the shadow of a pixel at the axis, in bins
  int levels = 1;         ///< of taps: how many groups a wave of a view passes
  double accuracy = 0;    ///< of taps, see `hierarchical_accuracy`
};

/// The interpolation of a model. `how`: what runs, see `resolved`; it matters for variants with coefficients
/// of their own. @throws GeometryError for a model that the beam does not have; DeviceError
Interpolation interpolation_of(const ParallelBeam& scan, const VolumeGrid& grid,
                               Model model = Model::pixel_driven, const Execution& how = {},
                               Device device = Device::cpu());
Interpolation interpolation_of(const ConeBeam& scan, const VolumeGrid& grid,
                               Model model = Model::separable_footprint, const Execution& how = {},
                               Device device = Device::cpu());

Interpolation interpolation_of(const FlexibleBeam& scan, const VolumeGrid& grid,
                               Model model = Model::separable_footprint, const Execution& how = {},
                               Device device = Device::cpu());

/// The model that is taken where none is given.
inline Model usual_model(const ParallelBeam&) { return Model::pixel_driven; }
inline Model usual_model(const ConeBeam&) { return Model::separable_footprint; }
inline Model usual_model(const FlexibleBeam&) { return Model::separable_footprint; }

/// What interpolation leaves of a wave of f cycles a bin: the mean over all positions between two bins and
/// over all views. 1 at f = 0.
double mean_response(const Interpolation& interpolation, double f);

/// What interpolation leaves of the power of white noise of f cycles a bin, where a pixel is as wide as a
/// bin; kinds that are made of hats count as linear.
double mean_power(const Interpolation& interpolation, double f);

/// What linear interpolation leaves of the power of white noise of f cycles a bin: the mean over all
/// positions between two bins.
double noise_of_linear(double f);

}  // namespace tandem
