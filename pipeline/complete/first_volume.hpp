#pragma once

#include <optional>
#include <string>

#include "../../calibration/metal.hpp"
#include "complete.hpp"

namespace tandem::pipeline {

/// A first volume of a scan, in cells that are up to four times as wide: of the selected rows if rows are
/// slices, else of all.
struct FirstOfScan {
  VolumeGrid grid;
  RowsOfSlices rows;  ///< rows of the file
  calibration::FirstVolume found;
};

/// Says in one line what keeps a scan from a first volume; empty if nothing does.
std::string hindrance_of_first_volume(const Recipe& recipe, const io::ScanInfo& info);

/// Makes the first volume on this rank, without a correction of beam hardening. @pre nothing hinders it
FirstOfScan look_at_first_volume(io::ScanReader& reader, const Recipe& recipe, bool at_metal,
                                 const Listener& listener);

/// Looks for metal, and puts what it finds into the recipe. If there are several ranks, the first one looks,
/// and has `first` then, unless metal stays as it is.
calibration::MetalSearch take_metal(Recipe& recipe, io::ScanReader& reader, std::optional<FirstOfScan>& first,
                                    const Listener& listener);

/// The array that the first rank has. All ranks call it.
Array of_first_rank(const Comm& ranks, const Array* own, const VolumeGrid& grid);

}  // namespace tandem::pipeline
