#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../io/scans/scan_reader.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../../options/scan.hpp"
#include "../../pipeline/complete/complete.hpp"
#include "../../pipeline/complete/joined_scan.hpp"
#include "../../pipeline/plan/plan.hpp"
#include "../command.hpp"
#include "../runs/progress.hpp"

namespace tandem::apps {

/// Opens the path as a volume of tandem, or of a program with the same layout; null for anything else.
std::unique_ptr<io::VolumeReader> volume_in(const ScanOptions& options);

/// Reads --stitch. Returns what is wrong with the text; empty if nothing is.
std::string read_stitch(const std::string& text, pipeline::Stitch& into);

/// Opens the scan, or joins scans. @throws FileError, also for a volume
std::unique_ptr<io::ScanReader> open(const ScanOptions& options);

/// What the user should know about a scan: its notes, and advice that the options do not follow yet.
std::vector<std::string> notes_of(const io::ScanInfo& info, const ScanOptions& options);
void say_notes(const io::ScanInfo& info, const ScanOptions& options, ProgressLine& progress);

using pipeline::Selection;
/// The ranges of a scan that the options select. @throws GeometryError for an empty range
Selection select(const ScanOptions& options, const io::ScanInfo& info);
/// A recipe that has these ranges, and the steps.
pipeline::Recipe recipe_of(const ScanOptions& options, const io::ScanInfo& info);

}  // namespace tandem::apps
