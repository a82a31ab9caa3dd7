#pragma once

#include "tandem/core/space.hpp"

namespace tandem {

/// Half open: first, ..., last - 1.
struct Range {
  Index first = 0, last = 0;
  constexpr Index size() const { return last - first; }
  bool operator==(const Range&) const = default;
};

}  // namespace tandem
