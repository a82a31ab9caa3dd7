#pragma once

// Used only within operators/.

#include <functional>

#include "../../core/array.hpp"

namespace tandem {

/// Calls `work` with some whole slices of a volume that ranks cut along y, and puts what it makes of them
/// back into the strips. Each slice goes to one rank. All ranks call it together.
void on_whole_slices(VectorView strip, Stream& stream, const std::function<void(Image<float> slices)>& work);

}  // namespace tandem
