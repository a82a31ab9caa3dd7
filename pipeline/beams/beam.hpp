#pragma once

#include <functional>

#include "../../operators/ramp_filter.hpp"
#include "../plan/problem.hpp"

namespace tandem::pipeline {

/// Operators for some views.
struct ByViews {
  FilterOfViews filter;
  std::function<LinearOperator(Range views)> back_projection;
};

/// What the pipeline asks of a kind of beam, beside what a scan answers for itself (geometry/scan.hpp). Each
/// kind has a file in this folder and a line in table.cpp.
struct Beam {
  /// Gives the rows of a detector that is rolled by this angle, rad, their axes, once all bins of a row are
  /// of one height; `bins` are those that are read. The axis of the scan is that of its middle row. Null for
  /// a kind whose rows have one axis.
  void (*roll)(Scan& scan, double angle, Range bins);

  /// Gives the scan the geometry of an upright detector that faces the axis, which leans along the beam by
  /// this angle, rad. Null for a kind whose frames do not become those of an upright detector.
  void (*set_upright)(Scan& scan, double tilt);

  /// Decides who computes, how the projector of the plan runs there, and whether it is a matched pair.
  /// @throws DeviceError if the devices cannot run it that way; GeometryError if the method needs a matched
  /// pair and this one is not
  void (*choose_execution)(Plan& plan, const Recipe& recipe);

  /// Adds what the user should know about the views, the volume and the chunks of the plan.
  void (*add_warnings)(Plan& plan, const Recipe& recipe);

  /// @throws DeviceError if the tiles of the plan do not fit its devices. Null for a kind without tiles.
  void (*require_tiles)(const Plan& plan);

  /// How a wave goes on from the sample. `scan`: of a known pitch.
  Optics (*optics)(const Scan& scan);

  /// The memory that the kernels of a worker hold beside vectors of these shapes, (slice, y, x) and (view,
  /// row, bin).
  WorkingMemory (*working_memory)(const Plan& plan, const Worker& worker, Shape volume, Shape projections);

  /// The operator A for a part of the plan, see `problem_of`. `own`: the views of the scan whose projections
  /// this process has, which are all unless vectors lie on several ranks.
  LinearOperator (*projector)(const Plan& plan, const Worker& worker, const Scan& scan, Range own,
                              const VolumeGrid& grid, const std::function<void()>& on_tile);

  /// The operator F, see `filter_of`.
  std::optional<LinearOperator> (*filter)(const Plan& plan, const Problem& problem);

  /// The operator B, see `back_projection_of`.
  BackProjection (*back_projection)(const Plan& plan, const Problem& problem);

  /// F and B for some of the views of a problem, which count from 0: the sum of B F y over all views is the
  /// result. Null for a kind whose slices are problems of their own, where B is fast for all views at once.
  ByViews (*by_views)(const Plan& plan, const Problem& problem);
};

const Beam& beam_of(const Scan& scan);

}  // namespace tandem::pipeline
