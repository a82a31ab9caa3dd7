#pragma once

#include <functional>
#include <span>

#include "../options/scan_options.hpp"

namespace tandem::apps {

/// Calls `work` with each selected view and its line integrals, (row, bin) of the selection, which the steps
/// of the options make. Several threads call it, for views in any order. Frames are not resampled. Some views
/// are in memory at a time. @throws GeometryError for steps that need all views at once
void for_each_frame(io::ScanReader& reader, const ScanOptions& options, ProgressLine& progress,
                    const std::function<void(std::size_t view, std::span<const float> frame)>& work);

}  // namespace tandem::apps
