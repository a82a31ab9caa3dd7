#pragma once

// Numbers that carry their derivatives. Used only within the library.

#include <array>
#include <cmath>
#include <cstddef>

namespace tandem {

/// A number and its derivatives by N others.
template <std::size_t N>
struct Dual {
  double value = 0;
  std::array<double, N> by{};

  Dual() = default;
  Dual(double constant) : value(constant) {}
  /// The k-th of the numbers by which derivatives are taken.
  static Dual variable(double value, std::size_t k) {
    Dual x(value);
    x.by[k] = 1;
    return x;
  }

  friend Dual operator+(const Dual& a, const Dual& b) { return joined(a.value + b.value, 1, a, 1, b); }
  friend Dual operator-(const Dual& a, const Dual& b) { return joined(a.value - b.value, 1, a, -1, b); }
  friend Dual operator-(const Dual& a) { return joined(-a.value, -1, a, 0, a); }
  friend Dual operator*(const Dual& a, const Dual& b) {
    return joined(a.value * b.value, b.value, a, a.value, b);
  }
  friend Dual operator/(const Dual& a, const Dual& b) {
    const double ratio = a.value / b.value;
    return joined(ratio, 1 / b.value, a, -ratio / b.value, b);
  }
  friend Dual sqrt(const Dual& a) {
    const double root = std::sqrt(a.value);
    return joined(root, 0.5 / root, a, 0, a);
  }
  friend Dual abs(const Dual& a) { return a.value < 0 ? -a : a; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }

 private:
  static Dual joined(double value, double f, const Dual& a, double g, const Dual& b) {
    Dual sum(value);
    for (std::size_t k = 0; k < N; ++k) sum.by[k] = f * a.by[k] + g * b.by[k];
    return sum;
  }
};

}  // namespace tandem
