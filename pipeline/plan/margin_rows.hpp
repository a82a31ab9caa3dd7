#pragma once

#include "../../io/scans/scan_reader.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// Selected rows, and the margins that steps, or rays that cross slices, need beside them. A user may have
/// left out rows because they are broken. So margins end before the first row that has no good cell, or no
/// finite pixel in any view, as they end at an edge of the detector.
struct MarginRows {
  Range selected, wanted;  ///< rows of the file, without and with margins
  Range bins, views;       ///< bins and views of the file; no views if they are still to come
};

/// The selected rows with the margins that are usable. Reads flats, darks and one view of these rows.
Range with_good_margins(io::ScanReader& reader, const Preprocessing& how, const MarginRows& rows);

/// Reduces `Job::rows_there`, and `Job::rows` with its scan, to the selected rows with usable margins.
void end_margins_at_bad_rows(io::ScanReader& reader, Job& job);

}  // namespace tandem::pipeline
