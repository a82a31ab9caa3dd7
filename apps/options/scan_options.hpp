#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../axis/center.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../command.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// The options that `recon`, `center` and `info` share: how a scan is opened, and which part of it is used.
struct ScanOptions {
  std::string path;                            ///< "-": `given`, if it is there
  std::shared_ptr<const io::GivenScan> given;  ///< scan of a program that runs the command itself; or null
  std::vector<std::string> flats, darks;
  std::string geometry, angles, arc, rotation_direction = "+1", orient, reversed_motion, file_type, time;
  io::OpenOptions how;  ///< made from the texts above when the command line is parsed
  pipeline::StepValues steps;
  AxisPart detector_rows, columns, views;
};

constexpr const char* all_times = "all";  ///< value of --time

constexpr const char* what_a_scan_is =
    "file of HDF5, MATLAB, Zeiss, TIFF or EDF, folder of images, or settings beside images";
void add_scan(CLI::App& command, ScanOptions& options);  ///< adds the scan, for commands that take one
void add_scan_options(CLI::App& command, ScanOptions& options);
void add_selection(CLI::App& command, ScanOptions& options);  ///< --detector-rows, --columns, --views

/// Opens the path as a volume of tandem, or of a program with the same layout; null for anything else.
std::unique_ptr<io::VolumeReader> volume_in(const ScanOptions& options);

/// Opens the scan. @throws FileError, also for a volume
std::unique_ptr<io::ScanReader> open(const ScanOptions& options);

/// What the user should know about a scan: its notes, and advice that the options do not follow yet.
std::vector<std::string> notes_of(const io::ScanInfo& info, const ScanOptions& options);
void say_notes(const io::ScanInfo& info, const ScanOptions& options, ProgressLine& progress);

/// The ranges of a scan that the options select. @throws GeometryError for an empty range
struct Selection {
  Range views, rows, bins;
};
Selection select(const ScanOptions& options, const io::ScanInfo& info);

/// Finds the axis, in bins of the file, from `count` rows that are spread over the selected ones.
pipeline::AxisEstimate find_axis_of(io::ScanReader& reader, const ScanOptions& options,
                                    const pipeline::AxisSearch& search, Index count, ProgressLine& progress);

/// Finds the axis from these rows, without a warning if they hardly agree.
pipeline::AxisEstimate find_axis_in(io::ScanReader& reader, const ScanOptions& options,
                                    const pipeline::AxisSearch& search, const std::vector<Index>& rows,
                                    ProgressLine& progress);

/// Warns if the last view looks like the first one, although --arc spreads the views evenly over whole turns,
/// or over half turns of a parallel beam, without the end. After half a turn the view is mirrored about one
/// of `axes` (in bins of the file).
void warn_of_repeated_view(io::ScanReader& reader, const ScanOptions& options,
                           const std::vector<double>& axes, ProgressLine& progress);
/// The axes that are possible by an estimate.
std::vector<double> axes_of(const pipeline::AxisEstimate& axis);

}  // namespace tandem::apps
