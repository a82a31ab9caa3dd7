#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../io/scan_reader.hpp"
#include "../io/volume_file.hpp"
#include "../pipeline/center.hpp"
#include "../pipeline/plan.hpp"
#include "command.hpp"
#include "progress.hpp"

namespace tandem::apps {

/// How a scan is opened and what of it is used: the options that `recon`, `center` and `info` share.
struct ScanOptions {
  std::string path;
  std::vector<std::string> flats, darks;
  std::string angles, arc, rotation_direction = "+1";
  io::OpenOptions how;  ///< made from the texts above when the command line is parsed
  pipeline::StepValues steps;
  std::optional<Index> start_row, end_row, start_column, end_column, start_proj, end_proj;
};

void add_scan_options(CLI::App& command, ScanOptions& options);
void add_selection(CLI::App& command, ScanOptions& options);  ///< --start-row ... --end-proj

/// A volume that tandem, or a tool with its layout, wrote; null for anything else.
std::unique_ptr<io::VolumeReader> volume_in(const ScanOptions& options);

/// @throws FileError, also for a volume
std::unique_ptr<io::ScanReader> open(const ScanOptions& options);

/// The ranges of a scan that the options select. @throws GeometryError for an empty one
struct Selection {
  Range views, rows, bins;
};
Selection select(const ScanOptions& options, const io::ScanInfo& info);

/// Kind and sizes of a scan, and what else makes its geometry, for reports and for people.
nlohmann::json geometry_json(const Scan& scan);
std::string words_of(const Scan& scan);

/// The axis bin, in bins of the file, from `count` rows spread over those selected.
pipeline::AxisEstimate find_axis_of(io::ScanReader& reader, const ScanOptions& options,
                                    const pipeline::AxisSearch& search, Index count, ProgressLine& progress);

/// Warns where --arc spreads views evenly over turns or, of a parallel beam, half turns without their end,
/// but the last view looks like the first one; after half a turn mirrored about one of `axes` (in bins of the
/// file).
void warn_of_repeated_view(io::ScanReader& reader, const ScanOptions& options,
                           const std::vector<double>& axes, ProgressLine& progress);
/// The axes that an estimate leaves open.
std::vector<double> axes_of(const pipeline::AxisEstimate& axis);

}  // namespace tandem::apps
