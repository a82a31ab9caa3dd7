#pragma once

#include <array>

#include "../ramp.hpp"
#include "fourier_transform.hpp"

namespace tandem::kernels::cpu {

/// A number for each end of rows that lie side by side, as `transform` takes them: two rows in each lane.
using Ends = std::array<std::array<float, 2 * lanes>, 2>;

/// The end value of a row; `line` is what comes to the filter.
float end_value(const EndValues& ends, Index row, int end, const float* line);

/// The transpose: adds to the last bins.
void give_back(const EndValues& ends, Index row, int end, float value, float* line);

/// Adds to `lines` what rows with these end values go on with.
void go_on(const Continuation& beyond, const Ends& values, float* lines);

/// The transpose.
Ends come_back(const Continuation& beyond, const float* lines);

}  // namespace tandem::kernels::cpu
