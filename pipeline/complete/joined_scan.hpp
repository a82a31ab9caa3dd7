#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../calibration/seam.hpp"
#include "../../counts/steps/options.hpp"
#include "../../io/scans/scan_reader.hpp"

namespace tandem::pipeline {

/// How scans of neighbouring parts of a sample are joined.
struct Stitch {
  calibration::Along along = calibration::Along::rows;
  /// By how much each scan lies further towards higher rows, or bins, than the one before, mm; one number for
  /// all, or one for each but the first. Empty: what scans see in common tells it.
  std::vector<double> steps_mm{};
};

struct NamedScan {
  std::string name;  ///< for messages
  std::shared_ptr<io::ScanReader> reader;
};

/// Takes the options of steps that are about cells of a detector out of `values`, and returns them.
StepValues take_options_of_cells(StepValues& values);

/// Joins scans that saw neighbouring parts of a sample by parallel rays in the same views: heights, whose
/// frames lie one above the other, or tiles side by side. The result has counts of one even
/// brightness, that of the flats of the first scan: each scan is divided by its own flats before, and its own
/// dead cells are filled (`of_cells`: the options for that). Line integrals stay line integrals. Frames are
/// moved by cubic interpolation to the cells of the first scan, made as bright as that one where both see the
/// same, and blended from edge to edge of what they have in common. Notes of the result say where each scan
/// lies.
///
/// @throws GeometryError for other beams, for scans that differ in views, frames or pixels, where nothing
/// that they have in common tells how they lie, and for a gap between them; FileError
std::unique_ptr<io::ScanReader> join_scans(const std::vector<NamedScan>& scans, const Stitch& how,
                                           const StepValues& of_cells);

}  // namespace tandem::pipeline
