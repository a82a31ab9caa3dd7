#pragma once

#include <span>

#include "../../../kernels/waves.hpp"
#include "plane.hpp"

namespace tandem::pipeline::stripes {

/// The frequency from which the gains of a filter of lines count.
enum class Zero {
  at_0,    ///< gain k is that of k periods over the line
  at_half  ///< gain k is that of n / 2 - k periods: the filter is meant for lines whose signs alternate
};

/// The waves of a filter with the gains 0 to n / 2, but for those whose gain is below 1e-9.
kernels::Waves waves_of(Index length, Index beside, std::span<const double> gain, Zero zero);

/// Takes the slow part of each column out of a sinogram. Time: elements x waves. @returns the slow part
Plane take_out(const kernels::Waves& waves, Plane& sinogram);

}  // namespace tandem::pipeline::stripes
