#pragma once

#include "../../io/scans/scan_reader.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// Rows beside those that were selected are read as margins of steps. A user may have left them out because
/// they are broken: then the margins end before the first row without a good cell, or without a finite
/// pixel in any view, as they do at an edge of the detector.
struct MarginRows {
  Range selected, wanted;  ///< rows of the file, without and with margins
  Range bins, views;       ///< of the file; no views if there are none to look at yet
};

/// The rows with the margins that can be had. Reads flats, darks and a view of them.
Range with_good_margins(io::ScanReader& reader, const Preprocessing& how, const MarginRows& rows);

/// Changes `Job::rows_there` accordingly.
void end_margins_at_bad_rows(io::ScanReader& reader, Job& job, Range views);

}  // namespace tandem::pipeline
