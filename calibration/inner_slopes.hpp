#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// How much attenuation changes inside one material, where it should not. Slices of even and of odd views
/// have the same slopes, and other noise: their product has none. It is measured far from all edges. Slices
/// are linear in the coefficients of a polynomial of the line integrals, so they are made once.
class InnerSlopes {
 public:
  /// Makes slices of one row (view, bin), of at most 256 voxels a side, of the powers 1 to `terms` of q /
  /// largest. Empty where no whole turn can be made of half of the views.
  static std::optional<InnerSlopes> of(std::span<const float> row, const Scan& scan, Index terms,
                                       double largest);

  Index voxels() const { return voxels_; }       ///< that are far from all edges
  bool has_metal() const { return has_metal_; }  ///< four voxels or more of five times the main attenuation
  /// The mean product of slopes over the square of the attenuation, for p = c_1 q + c_2 q^2 + ... First the
  /// mean over all voxels, then four means that leave out the voxels of one quarter about their centre each.
  std::array<double, 5> energies(std::span<const double> coefficients) const;

 private:
  struct Half {
    std::vector<float> value{}, by_x{}, by_y{};  ///< (term, inner voxel)
  };
  InnerSlopes() = default;

  double largest_ = 1;
  Index voxels_ = 0, terms_ = 0;
  bool has_metal_ = false;
  Half even_{}, odd_{};
  std::vector<int> quarters_{};  ///< the quarter of each inner voxel
};

}  // namespace tandem::calibration
