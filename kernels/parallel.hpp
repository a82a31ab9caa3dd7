#pragma once

#include <span>
#include <string>
#include <vector>

#include "../core/array.hpp"
#include "../core/execution.hpp"
#include "../geometry/views.hpp"

namespace tandem::kernels {

/// Parallel-beam projector and its exact transpose, for any hat-shaped footprint.
/// Volume (slice, y, x), projections (view, row, bin); slice k is row k.
/// out <- alpha K in + beta out, K without `ParallelViews::scale`; beta = 0 never reads out.
/// `how` comes from `resolve`.
struct ParallelKernels {
  void (*forward)(const ParallelViews& views, Execution how, float alpha, Image<const float> volume,
                  float beta, Image<float> projections, Stream& stream);
  void (*backward)(const ParallelViews& views, Execution how, float alpha, Image<const float> projections,
                   float beta, Image<float> volume, Stream& stream);
  /// What a device of this backend can do.
  std::span<const OfferedExecution> (*executions)(Device device);
  /// What runs if `wanted` is asked for, for these views and projections (view, row, bin), whatever the
  /// memory: `automatic` is chosen, of matched ones if there are any and `pairing` says so; hats that no
  /// texture draws are left to the cores.
  /// @throws DeviceError for one that the device has not, GeometryError for one that these views forbid.
  Execution (*resolve)(Execution wanted, Pairing pairing, const ParallelViews& views, Shape projections,
                       Device device);
  WorkingMemory (*working_memory)(Execution how, Shape volume, Shape projections, Device device);
  /// Of the kernels that run on this device (launches.hpp).
  std::vector<std::string> (*names)(Device device);
};

/// @throws DeviceError if the build lacks the backend.
const ParallelKernels& parallel(Device device);

}  // namespace tandem::kernels
