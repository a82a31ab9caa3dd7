#pragma once

#include <cmath>

#include "space.hpp"

namespace tandem {

/// The next whole number below or above a position. @pre |x| < 2^63, so that an `Index` holds it
inline Index floor_index(double x) { return static_cast<Index>(std::floor(x)); }
inline Index ceil_index(double x) { return static_cast<Index>(std::ceil(x)); }

}  // namespace tandem
