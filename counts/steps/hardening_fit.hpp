#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

namespace tandem::pipeline {

/// Coefficients c_1 = 1, c_2, ... of the polynomial c_1 q + c_2 q^2 + ... that makes of measured line
/// integrals q those of the attenuation that a thin layer has: they grow as the length does.

/// From lengths and line integrals that a wedge of the sample's material was measured with, in any unit of
/// length. Lengths of 0 say nothing. @throws FileError that begins with `where`, unless four or more are
/// positive
std::vector<double> fitted_to_wedge(std::span<const std::array<double, 2>> measured,
                                    const std::string& where);

/// For water in a beam of these energies, keV, and their shares of what the detector sees. Within 0.03 % for
/// line integrals up to 6 of tubes from 80 to 120 kV. @throws FileError that begins with `where`, for
/// energies outside 10 to 300 keV and for shares below 0
std::vector<double> fitted_to_water(std::span<const std::array<double, 2>> spectrum,
                                    const std::string& where);

}  // namespace tandem::pipeline
