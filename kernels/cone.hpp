#pragma once

#include <string>
#include <vector>

#include "../core/array.hpp"
#include "../geometry/views.hpp"

namespace tandem::kernels {

/// Cone-beam projector of one model and its exact transpose (footprint.hpp, cone_hats.hpp). Volume (slice, y,
/// x), projections (view, row, bin). out <- alpha A in + beta out; beta = 0 never reads out.
struct ConeKernels {
  void (*forward)(const ConeViews& views, float alpha, Image<const float> volume, float beta,
                  Image<float> projections, Stream& stream);
  void (*backward)(const ConeViews& views, float alpha, Image<const float> projections, float beta,
                   Image<float> volume, Stream& stream);
  /// Of one application, whatever the geometry; grows with lines of voxels and with views.
  WorkingMemory (*working_memory)(Shape volume, Shape projections);
  bool matched;                         ///< `OfferedExecution::matched`
  std::vector<std::string> (*names)();  ///< of all kernels (launches.hpp)
};

/// @throws DeviceError if the build lacks the backend.
const ConeKernels& cone(Model model, Device device);

}  // namespace tandem::kernels
