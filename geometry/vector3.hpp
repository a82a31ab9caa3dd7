#pragma once

// Arithmetic of points and directions. Used only within the library.

#include <array>
#include <cmath>

namespace tandem {

inline std::array<double, 3> operator+(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2]};
}
inline std::array<double, 3> operator-(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline std::array<double, 3> operator*(double f, const std::array<double, 3>& a) {
  return {f * a[0], f * a[1], f * a[2]};
}
inline double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline std::array<double, 3> cross(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double length(const std::array<double, 3>& a) { return std::sqrt(dot(a, a)); }

}  // namespace tandem
