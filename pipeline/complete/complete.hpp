#pragma once

#include <vector>

#include "../../calibration/center.hpp"
#include "../../calibration/hardening.hpp"
#include "../../calibration/metal.hpp"
#include "../../calibration/second_material.hpp"
#include "../../calibration/shadow_disc.hpp"
#include "../../calibration/shell_attenuation.hpp"
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

/// The attenuation of what lies beyond the ends of rows, where the recipe asks for `Padding::circle`, or
/// leaves the padding of a filter open and rows do not come down to air: 3 rows of 15 views tell. It is found
/// in 5 rows, selected or not, so that slices do not depend on the selection: that of a round body whose line
/// integrals bend as theirs do; 1/mm, or 1/bin if the pitch is not known; 0 where no line integral is above
/// zero, and where no circles are due.
double attenuation_beyond(io::ScanReader& reader, const Recipe& recipe, const Listener& listener = {});

/// Sets circles of this attenuation; of 0: takes the default for them.
void give_circles(Recipe& recipe, double attenuation);

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

/// Finds the hardening of the beam from some rows, as the recipe leaves them: rows near the midplane of a
/// cone beam, else rows that are spread over the selected ones.
calibration::Hardening find_hardening(io::ScanReader& reader, const Recipe& recipe,
                                      const Listener& listener = {});

/// The hardening of the beam, on the first rank, if it was to be found.
struct HardeningOfScan {
  std::optional<calibration::Hardening> one{};          ///< by one curve
  std::optional<calibration::SecondMaterial> second{};  ///< by two materials, if that was looked for
};

/// What the shadow of a disc told, on the first rank, if it was to be found.
struct FoundSupport {
  std::optional<calibration::ShadowDisc> disc{};
  std::optional<calibration::ShellAttenuation> shell{};
};

/// What a recipe was completed by.
struct Completed {
  std::vector<double> axes{};  ///< axes that the search leaves open; none if there was no search
  std::optional<calibration::MetalSearch> metal{};  ///< on the first rank, if it was to be found
  HardeningOfScan hardening{};
  FoundSupport support{};
};

/// Completes a recipe for a scan: its views, rows and bins, the axes that a file has for rows, and the axis
/// metal, the correction of beam hardening, the disc of the support, the level of its shell, and the
/// attenuation beyond the ends of rows, if these are to be found. If there are several ranks, the first one
/// looks. `any_external`: whether raw external files of these axes may lie outside the folder of an HDF5
/// file. @throws FileError; GeometryError as `find_axis`, and if the axis is too uncertain to say that the
/// scan is a half acquisition
Completed complete(Recipe& recipe, io::ScanReader& reader, const Listener& listener = {},
                   bool any_external = false);

}  // namespace tandem::pipeline
