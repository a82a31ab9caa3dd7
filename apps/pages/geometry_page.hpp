#pragma once

#include <string>
#include <vector>

#include "../../geometry/scan.hpp"
#include "../../io/png.hpp"
#include "../../io/scans/scan_reader.hpp"

namespace tandem::apps {

/// The scan with its views as they were measured, with deviations from the circle if its file says so. Roll
/// and tilt in degrees, if they are given, come before those of the file.
Scan as_it_stands(const io::ScanInfo& info, std::optional<double> roll, std::optional<double> tilt);

/// A page of a scan's geometry that needs no other file and turns with the mouse. It shows the sources and
/// their path, the detector of one view with the rays to its corners, the axis if there is one, and the box
/// of the volume. `file` and `words`: what the page says about the scan.
std::string geometry_page(const std::string& file, const std::string& words, const Scan& scan,
                          const VolumeGrid& grid);

/// Pictures of a scan's geometry, drawn with lines: from above, from the front and from the side.
std::vector<io::Picture> geometry_pictures(const Scan& scan, const VolumeGrid& grid);

}  // namespace tandem::apps
