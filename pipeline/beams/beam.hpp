#pragma once

#include <algorithm>
#include <array>
#include <functional>

#include "../../operators/ramp_filter.hpp"
#include "placement.hpp"

namespace tandem::pipeline {

/// F of some views, which is made when it is asked for first: those that only back-project need none.
FilterOfViews when_asked_for(std::function<FilterOfViews()> make);

/// F and B for blocks of views.
struct ByViews {
  FilterOfViews filter;
  std::function<LinearOperator(Range views)> back_projection;
  /// The views that `filter` needs for some views: these and others beside them. Empty: it needs no others.
  std::function<Range(Range views)> behind = {};
};

/// What the pipeline must know about a kind of beam, beside what a scan knows itself (geometry/scan.hpp).
/// Each kind has a file in this folder and a line in table.cpp.
struct Beam {
  /// Gives each row of a detector that is rolled by this angle, rad, its own axis. The frames are resampled
  /// so that all bins of a row have one height; `bins` are those that are read. The axis of the scan is that
  /// of its middle row. Null for a kind whose rows have one axis.
  void (*roll)(Scan& scan, double angle, Range bins) = nullptr;

  /// Gives the scan the geometry of an upright detector that faces the axis. `tilt`: by how much the axis
  /// leans along the beam, rad. Null for a kind whose frames are never resampled to an upright detector.
  void (*set_upright)(Scan& scan, double tilt) = nullptr;

  /// The pose that the step `upright` needs: where an upright detector stands. Null as for `set_upright`.
  DetectorPose (*pose)(const Scan& scan, double roll, double tilt, Index first_row) = nullptr;

  /// The distance of the sources from the axis, mm. Null for parallel rays.
  double (*source_distance)(const Scan& scan) = nullptr;

  /// The lowest and the highest point, mm above the midplane, that the rows together see up to `radius` mm
  /// from the axis. Empty if slices are independent: in a parallel beam, and in a fan with its one slice.
  std::optional<std::array<double, 2>> (*heights_seen)(const Scan& scan, double radius) = nullptr;

  /// Whether a filter takes the sample to go on below the first row, and above the last one, as there. Null
  /// for a kind whose filter says nothing of this.
  std::array<bool, 2> (*goes_on_beyond)(const Scan& scan) = nullptr;

  /// Chooses the workers, how the projector runs on each, and whether it is a matched pair. `bytes` returns
  /// the memory that kernels may take on the first device. @throws DeviceError if the devices cannot run it
  /// that way; GeometryError if the method needs a matched pair and this one is not
  void (*choose_execution)(Plan& plan, const Recipe& recipe, const std::function<double()>& bytes) = nullptr;

  /// Adds what the user should know about the views, the volume and the chunks of the plan.
  void (*add_warnings)(Plan& plan, const Recipe& recipe) = nullptr;

  /// The placements of vectors; null for one that a kind does not have. `require_tiles` throws a DeviceError
  /// if the tiles of the plan do not fit its devices.
  const Placement *on_devices = nullptr, *in_tiles = nullptr, *over_ranks = nullptr;
  void (*require_tiles)(const Plan& plan) = nullptr;

  /// How a wave propagates behind the sample. @pre the pitch of the scan is known
  Optics (*optics)(const Scan& scan) = nullptr;

  /// F and B for blocks of views of a problem, numbered from 0. The sum of B F y over all views is the
  /// result. Null for a kind whose slices are problems of their own, since there B is fast for all views at
  /// once.
  ByViews (*of_views)(const Filter& how, const Problem& problem) = nullptr;

  /// The model that makes a job faster than the usual one and needs another job, with other rows and another
  /// route, if a recipe leaves the model open; none if there is none. Null for a kind that has no such model.
  std::optional<Model> (*faster_model)(const Job& job, const Recipe& recipe) = nullptr;

  std::vector<Model> models;  ///< how shadows of this kind can be computed
  bool has(Model model) const { return std::ranges::find(models, model) != models.end(); }
};

const Beam& beam_of(const Scan& scan);

/// @throws DeviceError if the recipe asks for another execution than the only one that a kind of beam has
void require_only(const Execution& only, const Recipe& recipe, const char* kind);

/// Warns of a gap between neighbouring views, rad, if it is a hole, or if it is wider than 5 degrees and than
/// 5 steps. If the angles of the scan look like radians, it says so instead. `open` is the part of the
/// period, rad, for which there is no view.
void warn_of_gap(std::vector<std::string>& warnings, const Job& job, const std::vector<double>& angles,
                 double gap, double open, double period);

/// Warns of the arc, rad, that a short scan from a point source lacks.
void warn_of_missing_arc(std::vector<std::string>& warnings, const Job& job, double missing);

}  // namespace tandem::pipeline
