#pragma once

#include <array>
#include <vector>

#include "../core/space.hpp"

namespace tandem::pipeline {

/// Transmissions of a beam of many energies. A sum over energies takes a microsecond a ray, so logarithms of
/// sums at equal steps of both materials are kept, with their slopes. Cubic polynomials go between them.
class BeamTable {
 public:
  /// Shares of what the detector sees, and how much each energy is attenuated over the mean, by the main
  /// material and by the dense one.
  using Beam = std::vector<std::array<double, 3>>;
  BeamTable() = default;
  /// For line integrals up to these; the last one is 0 if there is one material.
  BeamTable(Beam beam, double most_main, double most_dense);

  /// The transmission, within 1e-6 of it: the noise of 4e9 photons is 1.6e-5. Beyond the table, and where it
  /// would have to be too large for that, the sum over energies.
  double transmission(double main, double dense) const;

 private:
  /// -ln of the sum, and its slopes by the one, by the other, and by both, times the steps.
  using Node = std::array<double, 4>;
  Node node(double main, double dense) const;
  double interpolated(double main, double dense) const;
  double largest_error() const;

  Beam beam_{};
  Index main_ = 0, dense_ = 0;  ///< steps
  double step_main_ = 1, step_dense_ = 1;
  std::vector<Node> nodes_{};  ///< (dense, main); empty: none
};

}  // namespace tandem::pipeline
