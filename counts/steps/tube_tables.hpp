#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::pipeline {

// What a tube sends and what materials take out of it, from tables.
constexpr double least_kev = 10, most_kev = 300;  ///< energies that the tables of materials have
constexpr double least_kv = 30, most_kv = 300;    ///< voltages of tubes
std::vector<std::string> tabled_materials();

/// Mass attenuation, cm^2/g, within 0.5 % from 10 to 300 keV (copper: 1 % at 11 keV).
/// @pre the material is one of `tabled_materials`
double mass_attenuation(std::string_view material, double kev);

/// Energies in keV from 12 up to the voltage, and the energy that each of them carries, in any unit. The tube
/// has an anode of tungsten of 12 degrees, and no filter.
std::vector<std::array<double, 2>> spectrum_of_tube(double kv);

}  // namespace tandem::pipeline
