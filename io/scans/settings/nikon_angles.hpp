#pragma once

// Used only within io/scans/settings/.

#include <filesystem>
#include <string>

#include "settings.hpp"

namespace tandem::io {

/// Takes the angles of the views from NAME.ang, else from NAME_ctdata.txt or _ctdata.txt, beside a Nikon file
/// of settings: they begin at `first_deg` and have the sense of `step_deg`. A note says whose they are, or
/// that there are none. `found` has the number of views. @throws FileError
void read_nikon_angles(const std::filesystem::path& beside, const std::string& name, ScanSettings& found);

}  // namespace tandem::io
