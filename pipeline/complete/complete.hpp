#pragma once

#include <vector>

#include "../../calibration/center.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../plan/recipe.hpp"
#include "../watch/progress.hpp"

namespace tandem::pipeline {

/// The ranges of a scan that are taken.
struct Selection {
  Range views, rows, bins;
};
/// What a recipe takes of a scan: all of that for which it gives no range. @throws GeometryError for a range
/// that is empty or not there
Selection selection_of(const Recipe& recipe, const io::ScanInfo& info);

// What searches read of a recipe: its ranges and its steps.

/// Finds the axis, in bins of the file, from `count` of the selected rows, and warns if they hardly tell it.
/// @throws GeometryError as `find_axis` of line integrals does, and where views have no axis or are shifted
calibration::AxisEstimate find_axis(io::ScanReader& reader, const Recipe& recipe,
                                    const calibration::AxisSearch& search = {}, Index count = 5,
                                    const Listener& listener = {});

/// Finds the axis from these rows, without such a warning.
calibration::AxisEstimate find_axis_in(io::ScanReader& reader, const Recipe& recipe,
                                       const calibration::AxisSearch& search, const std::vector<Index>& rows,
                                       const Listener& listener = {});

/// The roll of a detector, and the axis of its middle row. Uncertainties are one standard deviation.
struct Roll {
  double degrees, uncertainty;
  double axis_bin, axis_uncertainty;
  calibration::AxisMethod method;
};

/// Fits a line to the axes of `count` rows, which are spread over the selected ones, and of more rows if the
/// angle is not certain yet. Opposite views see the same row at different heights. So the rows are levelled
/// by the roll that was found, and searched again, several times. @throws GeometryError for a scan with fewer
/// than three rows, or of another kind than a parallel beam, and as `find_axis` does
Roll find_roll(io::ScanReader& reader, Recipe recipe, const calibration::AxisSearch& search = {},
               Index count = 9, const Listener& listener = {});

/// Warns if the last view looks like the first one, although the user spreads the views evenly over whole
/// turns, or over half turns of a parallel beam, without the end (OpenOptions::arc_deg). After half a turn
/// the view is mirrored about one of `axes` (in bins of the file).
void warn_of_repeated_view(io::ScanReader& reader, const Recipe& recipe, const io::OpenOptions& how,
                           const std::vector<double>& axes, const Listener& listener);

/// Completes a recipe for a scan: its views, rows and bins, the axes that a file has for rows, and the axis
/// if that is to be found. Returns the axes that the search leaves open; none if there was no search. If
/// there are several ranks, the first one looks. @throws FileError; GeometryError as `find_axis`, and if the
/// axis is too uncertain to say that the scan is a half acquisition
std::vector<double> complete(Recipe& recipe, io::ScanReader& reader, const Listener& listener = {});

}  // namespace tandem::pipeline
