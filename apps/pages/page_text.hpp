#pragma once

namespace tandem::apps {

extern const char* const page_text;              ///< apps/pages/page.html
extern const char* const report_page_text;       ///< apps/pages/report_page.html
extern const char* const geometry_page_text;     ///< apps/pages/geometry_page.html
extern const char* const look_page_text;         ///< apps/look/look.html, with its parts
extern const char* const look_volume_page_text;  ///< apps/look/look_volume.html, with its parts

}  // namespace tandem::apps
