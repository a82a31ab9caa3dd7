#pragma once

// Used only within io/.

#include <string>
#include <vector>

#include "../frame_source.hpp"

namespace tandem::io {

/// Notes views without light among others with it, which may be darks. Looks at the middle rows of the first
/// and the last views and of some between them.
void note_dark_views(const FrameSources& views, const std::string& where, std::vector<std::string>& notes);

}  // namespace tandem::io
