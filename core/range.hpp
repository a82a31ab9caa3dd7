#pragma once

#include "public.hpp"
#include "space.hpp"

namespace TANDEM_PUBLIC tandem {

/// A half-open range: first, ..., last - 1.
struct Range {
  Index first = 0, last = 0;
  constexpr Index size() const { return last - first; }
  bool operator==(const Range&) const = default;
};

}  // namespace tandem
