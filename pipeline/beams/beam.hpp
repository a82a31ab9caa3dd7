#pragma once

#include <functional>

#include "../problem.hpp"

namespace tandem::pipeline {

/// What the pipeline asks of a kind of beam, beside what a scan answers for itself (geometry/scan.hpp). Each
/// kind has a file in this folder, and a line in table.cpp.
struct Beam {
  /// Decides how the projector of the plan runs, and whether it is a matched pair. @throws DeviceError where
  /// the devices cannot run it so; GeometryError for a method on a pair that does not match
  void (*choose_execution)(Plan& plan, const Recipe& recipe);

  /// Adds what the user should know of the plan's views, volume and chunks.
  void (*add_warnings)(Plan& plan, const Recipe& recipe);

  /// @throws DeviceError if what the plan is for does not fit its devices in tiles. Null for a kind without
  /// tiles.
  void (*require_tiles)(const Plan& plan);

  /// What kernels hold beside vectors of these shapes, (slice, y, x) and (view, row, bin).
  WorkingMemory (*working_memory)(const Plan& plan, Shape volume, Shape projections);

  /// A for a part of the plan, see `problem_of`.
  LinearOperator (*projector)(const Plan& plan, const Scan& scan, const VolumeGrid& grid,
                              const std::function<void()>& on_tile);

  /// B of filtered data, see `back_projected`.
  Array (*back_projected)(const Plan& plan, const Problem& problem, const Array& filtered,
                          const std::function<void(double)>& done);
};

const Beam& beam_of(const Scan& scan);

}  // namespace tandem::pipeline
