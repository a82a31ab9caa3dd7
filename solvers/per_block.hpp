#pragma once

#include <vector>

#include "solver.hpp"

namespace tandem {

// Numbers of recurrences, of which each block has its own.

/// a / b of each block. A block whose b is not above 0 has come to its end, and has 0.
std::vector<double> quotients(const std::vector<double>& a, const std::vector<double>& b);

/// One factor per block: `moving` for a block that is active, `still` for one that has stopped.
std::vector<float> of_active(const ActiveBlocks& active, float moving, float still);
std::vector<float> of_active(const ActiveBlocks& active, const std::vector<double>& moving, float still);

std::vector<float> minus(std::vector<float> factors);

/// The fall of |b - Ax|^2 per unit of reach (`TellsItsReach`) in the next step of conjugate gradients, from
/// that in the last step and gamma = |At r|^2. In a step of length alpha |b - Ax|^2 falls by alpha gamma, and
/// the reach grows by alpha gamma (1 / gamma_0 + ... + 1 / gamma).
double next_fall(double fall, double gamma);

}  // namespace tandem
