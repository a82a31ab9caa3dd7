#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../preprocess.hpp"

namespace tandem::pipeline {

/// What is wrong with a tube; empty if nothing is, or if there is none.
std::string fault_of_tube(const StepValues& values);

/// The energies of a beam that is asked for by `option::spectrum`: their shares of what the detector sees,
/// and how much the material and the dense one attenuate each over the mean. Empty if it is not asked for.
std::vector<std::array<double, 3>> simulated_beam(const StepValues& values);

/// The attenuation, in the unit of the phantom, above which its parts are of the dense material. Empty: there
/// is none.
std::optional<double> simulated_dense_above(const StepValues& values);

}  // namespace tandem::pipeline
