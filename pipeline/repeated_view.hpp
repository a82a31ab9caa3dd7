#pragma once

#include <array>
#include <optional>
#include <span>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// Whether the last view looks like the first one, mirrored about `axis` (in bins) if that is given, in line
/// integrals (view, row, bin): they differ by less than half of what neighbouring views do, in mean squares.
/// Views that differ from their neighbours by nothing but noise do not. `ends`: the first view, the second,
/// the last but one, the last.
bool repeats_first_view(std::span<const float> line_integrals, Shape shape, const std::array<Index, 4>& ends,
                        std::optional<double> axis);

}  // namespace tandem::pipeline
