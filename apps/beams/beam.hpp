#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../options/geometry_options.hpp"

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
};

/// The kinds that options can make; the first one is the default. Views of any geometry come from files.
std::span<const Beam> beams();
const Beam& beam_named(std::string_view kind);
const Beam& beam_of(const Scan& scan);

}  // namespace tandem::apps
