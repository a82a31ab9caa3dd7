#pragma once

#include <numbers>

namespace tandem {

// Users give and read degrees, MiB and GiB. The code has radians and bytes.

constexpr double in_radians(double degrees) { return degrees * std::numbers::pi / 180; }
constexpr double in_degrees(double radians) { return radians * 180 / std::numbers::pi; }

constexpr double bytes_per_mib = 1024 * 1024, bytes_per_gib = 1024 * bytes_per_mib;

}  // namespace tandem
