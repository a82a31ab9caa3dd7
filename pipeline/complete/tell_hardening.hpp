#pragma once

#include <optional>
#include <string>

#include "../../calibration/second_material.hpp"
#include "../watch/progress.hpp"

namespace tandem::pipeline {

std::string short_of(double value);  ///< three digits

/// What the projections tell about the beam, in one line. `corrected`: they were before.
std::string words_of(const calibration::Hardening& found, calibration::HardeningBy means,
                     bool corrected = false);

/// Notes what was found; warns if beam hardening was to be corrected, and cannot be with certainty.
void tell_of_hardening(const calibration::Hardening& found,
                       const std::optional<calibration::SecondMaterial>& second, const Listener& listener);

}  // namespace tandem::pipeline
