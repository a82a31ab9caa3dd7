#pragma once

// Scans of Zeiss (Xradia) X-ray microscopes, NAME.txrm and NAME.xrm. Used only within io/.

#include <filesystem>

#include "../frame_source.hpp"

namespace tandem::io {

/// Opens such a scan. @throws FileError, also for a compound file that is no scan
Acquisition open_txrm(const std::filesystem::path& path, const OpenOptions& options);

/// The images of such a file, as flats or darks. @throws FileError
FrameSources txrm_frames(const std::filesystem::path& path);

}  // namespace tandem::io
