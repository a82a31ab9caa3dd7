#pragma once

namespace tandem::apps {

/// apps/page.html
extern const char* const page_text;

}  // namespace tandem::apps
