#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../../axis/center.hpp"
#include "../options/geometry_options.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// What the commands need to know about a kind of beam. Each kind has a file in this folder and a line in
/// table.cpp.
struct Beam {
  std::string_view kind;               ///< its name for --geometry
  bool rows_are_slices, needs_mm;      ///< whether rows are slices, and whether lengths must be in mm
  double arc_deg;                      ///< the default of --arc, degrees
  std::vector<const char*> options{};  ///< options that only this kind has
  std::vector<const char*> needed{};   ///< options that it needs
  std::vector<const char*> models{};   ///< names for --model, the default first; empty if there is only one

  /// Makes the scan of these options.
  Scan (*scan)(const GeometryOptions& options, Detector detector, std::vector<double> angles);

  /// The geometry of a scan beside views, rows and bins: for a report, and as a line for people.
  nlohmann::json (*fields)(const Scan& scan);
  std::string (*words)(const Scan& scan);

  /// `rows_for_axis` chooses `count` of the selected rows for the search of the axis. `find_axis` finds the
  /// axis from their line integrals (view, row, bin).
  std::vector<Index> (*rows_for_axis)(const Scan& scan, Range selected, Index count);
  pipeline::AxisEstimate (*find_axis)(const std::vector<float>& lines, const Scan& scan, Index rows,
                                      const pipeline::AxisSearch& search, ProgressLine& progress);
};

/// The kinds that options can make; the first one is the default. Views of any geometry come from files.
std::span<const Beam> beams();
const Beam& beam_named(std::string_view kind);
/// The kind with this name, in upper or lower case; "fan" is a cone beam of one row. Empty for another word.
std::string_view kind_called(const std::string& word);
const Beam& beam_of(const Scan& scan);

/// `count` rows that are spread over the selected ones.
std::vector<Index> spread_rows(Range selected, Index count);

}  // namespace tandem::apps
