#pragma once

#include "../options/scan_options.hpp"

namespace tandem::apps {

/// The roll of a detector, and the axis of its middle row. Uncertainties are one standard deviation.
struct Roll {
  double degrees, uncertainty;
  double axis_bin, axis_uncertainty;
  pipeline::AxisMethod method;
};

/// Fits a line to the axes of `count` rows, which are spread over the selected ones, and of more rows if the
/// angle is not certain yet. Opposite views see the same row at different heights. So the rows are levelled
/// by the roll that was found, and searched again, several times. The roll goes into the options. @throws
/// GeometryError for a scan with fewer than three rows, or of another kind than a parallel beam
Roll find_roll_of(io::ScanReader& reader, ScanOptions& options, const pipeline::AxisSearch& search,
                  Index count, ProgressLine& progress);

}  // namespace tandem::apps
