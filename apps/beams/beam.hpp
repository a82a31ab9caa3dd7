#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../operators/linear_operator.hpp"
#include "../../operators/projector.hpp"
#include "../../pipeline/center.hpp"
#include "../geometry_options.hpp"
#include "../progress.hpp"

namespace tandem::apps {

/// What the commands ask of a kind of beam. Each kind has a file in this folder, and a line in table.cpp.
struct Beam {
  std::string_view kind;               ///< of --geometry
  bool rows_are_slices, needs_mm;      ///< as its scans have it
  double arc_deg;                      ///< the default of --arc
  std::vector<const char*> options{};  ///< that go with this kind alone
  std::vector<const char*> needed{};   ///< that it cannot do without
  std::vector<const char*> models{};   ///< of --model, the default first; none: the kind has one

  /// The scan of the options.
  Scan (*scan)(const GeometryOptions& options, Detector detector, std::vector<double> angles);

  /// Its geometry: what a report says beside views, rows and bins, and a line for people.
  nlohmann::json (*fields)(const Scan& scan);
  std::string (*words)(const Scan& scan);

  /// `count` rows of those selected, by which the axis is found, and the axis in their line integrals (view,
  /// row, bin).
  std::vector<Index> (*rows_for_axis)(const Scan& scan, Range selected, Index count);
  pipeline::AxisEstimate (*find_axis)(const std::vector<float>& lines, Scan scan, Index rows,
                                      const pipeline::AxisSearch& search, ProgressLine& progress);

  /// A for `project`: rows see the volume where they are, also those with an axis of their own.
  LinearOperator (*projector)(const Scan& scan, const VolumeGrid& grid, const std::string& model);

  /// The back-projector of filtered back-projection, for a scan like this one with `size` views and bins, by
  /// which speed is measured.
  LinearOperator (*small_backprojector)(const Scan& scan, Index size, Index rows, Device device);
};

/// All kinds; the first one is the default.
std::span<const Beam> beams();
const Beam& beam_named(std::string_view kind);
const Beam& beam_of(const Scan& scan);

/// `count` rows, spread over those selected.
std::vector<Index> spread_rows(Range selected, Index count);

}  // namespace tandem::apps
