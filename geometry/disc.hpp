#pragma once

namespace tandem {

/// A circle about a line along z, and what is within it; mm, or bins if the pitch is not known.
struct Disc {
  double x = 0, y = 0, radius = 0;
};

}  // namespace tandem
