#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace tandem::pipeline::stripes {

/// A symmetric, positive definite matrix by its diagonal and those above it, `width` of them together.
template <std::size_t width = 3>
class Banded {
 public:
  explicit Banded(std::size_t n) : bands_(n) {}
  /// @pre row <= column < row + width
  double& operator()(std::size_t row, std::size_t column) { return bands_[row][column - row]; }

  /// Adds w w^T, where w stands in the columns from `first` on. @pre w has at most `width` elements
  void add_square(std::size_t first, std::span<const double> w) {
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t k = i; k < w.size(); ++k) bands_[first + i][k - i] += w[i] * w[k];
  }

  /// Solves M x = y in place, by M = L D L^T. An element of y is a number, or numbers of several such y.
  template <class Element>
  void solve(std::vector<Element>& y) {
    const std::size_t n = y.size();
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t d = 1; d < width && i + d < n; ++d) {
        const double factor = bands_[i][d] / bands_[i][0];
        for (std::size_t e = d; e < width && i + e < n; ++e) bands_[i + d][e - d] -= factor * bands_[i][e];
        y[i + d] -= factor * y[i];
      }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t d = 1; d < width && i + d < n; ++d) y[i] -= bands_[i][d] * y[i + d];
      y[i] /= bands_[i][0];
    }
  }

 private:
  std::vector<std::array<double, width>> bands_;
};

}  // namespace tandem::pipeline::stripes
