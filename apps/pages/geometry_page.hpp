#pragma once

#include <string>
#include <vector>

#include "../../geometry/scan.hpp"
#include "../../io/png.hpp"
#include "../../io/scans/scan_reader.hpp"

namespace tandem::apps {

/// The scan as its views stand: beside the circle, if its file says so.
Scan as_it_stands(const io::ScanInfo& info);

/// A page of a scan's geometry, complete in itself, that turns with the mouse: sources and the way they go,
/// the detector of one view with the rays to its corners, the axis if there is one, and the box of the
/// volume. `file` and `words`: what the page says of the scan.
std::string geometry_page(const std::string& file, const std::string& words, const Scan& scan,
                          const VolumeGrid& grid);

/// The same as pictures of lines: from above, from the front and from the side.
std::vector<io::Picture> geometry_pictures(const Scan& scan, const VolumeGrid& grid);

}  // namespace tandem::apps
