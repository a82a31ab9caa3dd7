#pragma once

#include <array>
#include <optional>
#include <span>

#include "../core/space.hpp"

namespace tandem::calibration {

/// Whether the last view looks like the first one, mirrored about `axis` (in bins) if that is given. Line
/// integrals are (view, row, bin). The mean square of the difference must be less than half of that between
/// neighbouring views. So views that differ from their neighbours only by noise do not pass. `ends` has the
/// first view, the second, the last but one and the last.
bool repeats_first_view(std::span<const float> line_integrals, Shape shape, const std::array<Index, 4>& ends,
                        std::optional<double> axis);

}  // namespace tandem::calibration
