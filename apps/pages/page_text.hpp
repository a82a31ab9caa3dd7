#pragma once

namespace tandem::apps {

/// Pages that CMake makes of apps/pages/frame.html and the parts of each.
extern const char *const live_page_text,
    *const report_page_text, *const geometry_page_text, *const look_page_text, *const look_volume_page_text;

}  // namespace tandem::apps
