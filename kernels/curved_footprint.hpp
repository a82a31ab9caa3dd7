#pragma once

// The footprint of flexible_footprint.hpp on a detector that lies on a cylinder about the source. Voxels fall
// on the flat detector that touches it, and from there on the curved one (geometry/curve.hpp): at the angle a
// to the middle column a cell has the width cos^2 a and the height cos a of a flat one, and the distance of a
// voxel from the axis of the cylinder takes the place of its depth. Shadows of a brick have the widths at its
// middle, scaled with that distance; rows lean there by -sin a cos^2 a times their height. Differences from
// the middle of the brick are found without losing digits: a - b for two angles is the arc tangent of (tan a
// - tan b) / (1 + tan a tan b).

#include "flexible_footprint.hpp"

namespace tandem::kernels {

/// A brick on the flat detector and on the curved one.
struct CurvedBrick {
  BrickShadow flat, shadow;
  float bins_per_radian, radians_per_bin;
  float tangent, square;  ///< t and 1 + t^2, where t is the tangent of the angle of the middle
  float cosine;
  float height;      ///< rows from the plane of the source to the middle, on the flat detector
  bool far_to_side;  ///< whether some angle from the middle is too large for the series
};

/// The shadow that has the widths of a brick.
TANDEM_HOST_DEVICE inline const BrickShadow& widths_of(const BrickShadow& flat) { return flat; }
TANDEM_HOST_DEVICE inline const BrickShadow& widths_of(const CurvedBrick& curved) { return curved.shadow; }

/// How many cells from its middle the voxels of a brick may lie, to either side.
TANDEM_HOST_DEVICE inline float spread_of(const float* half, const float* slope) {
  return half[0] * std::fabs(slope[0]) + half[1] * std::fabs(slope[1]) + half[2] * std::fabs(slope[2]);
}

/// A brick in a view of a curved detector. `middle`: voxels from voxel (0, 0, 0). `half`: half edges in
/// voxels.
TANDEM_HOST_DEVICE inline CurvedBrick curved_brick(const FlexiblePlace& view, const double* middle,
                                                   const float* half) {
  const Curve& curve = view.curve;
  const CellPlace place = view.on_flat(middle[0], middle[1], middle[2]), bent = curve.bent(place);
  const double t = (place.bin - curve.middle_bin) / curve.bins_per_radian, cosine = 1 / std::sqrt(1 + t * t);
  CurvedBrick brick{};
  brick.flat = shadow_about(view, middle[0], middle[1], middle[2]);
  brick.bins_per_radian = static_cast<float>(curve.bins_per_radian);
  brick.radians_per_bin = static_cast<float>(1 / curve.bins_per_radian);
  brick.tangent = static_cast<float>(t), brick.square = static_cast<float>(1 + t * t);
  brick.cosine = static_cast<float>(cosine);
  brick.height = static_cast<float>(place.row - curve.level_row);
  BrickShadow& s = brick.shadow;
  const double lean = brick.height * t * cosine * cosine / curve.bins_per_radian;
  for (int k = 0; k < 3; ++k) {
    const double bin = brick.flat.bin[k], row = brick.flat.row[k];
    s.depth[k] = brick.flat.depth[k] + static_cast<float>(t * cosine * cosine * bin / curve.bins_per_radian);
    s.bin[k] = static_cast<float>(cosine * cosine * bin);
    s.row[k] = static_cast<float>(cosine * (row - lean * bin));
  }
  const double first_bin = std::floor(bent.bin), first_row = std::floor(bent.row);
  s.bin_here = static_cast<float>(bent.bin - first_bin),
  s.row_here = static_cast<float>(bent.row - first_row);
  s.first_bin = static_cast<Index>(first_bin), s.first_row = static_cast<Index>(first_row);
  s.mass = brick.flat.mass * static_cast<float>(cosine * cosine);
  add_profiles(s);
  const float nearest = nearest_of(s, half);
  brick.far_to_side = spread_of(half, s.bin) * brick.radians_per_bin > 0.2f * nearest * nearest;
  return brick;
}

/// The arc tangent.
TANDEM_HOST_DEVICE inline float angle_of(float tangent, bool large) {
  if (large) return std::atan(tangent);
  const float square = tangent * tangent;  // at 0.2 the next term is 1e-8 of the first
  return tangent * (1 + square * (-1 / 3.0f + square * (1 / 5.0f + square * (-1 / 7.0f + square / 9.0f))));
}

TANDEM_HOST_DEVICE inline VoxelShadow shadow_in(const CurvedBrick& brick, float x, float y, float z) {
  const VoxelShadow flat = shadow_in(brick.flat, x, y, z);
  const float step = (flat.bin - brick.flat.bin_here) * brick.radians_per_bin,  // change of the tangent
      rows = flat.row - brick.flat.row_here;
  const float angle = angle_of(step / (brick.square + brick.tangent * step), brick.far_to_side);
  // cos a / cos b = 1 / root, where b is the angle of the middle
  const float more = (2 * brick.tangent + step) * step / brick.square, root = std::sqrt(1 + more),
              cosines = 1 / root, less = more / (root * (1 + root));  // 1 - cosines
  return {brick.shadow.bin_here + brick.bins_per_radian * angle,
          brick.shadow.row_here + brick.cosine * (rows * cosines - brick.height * less), flat.stretch * root,
          flat.inverse * cosines};
}

/// How many rows a voxel may lie beyond what the slopes of the middle say, since its distance from the axis
/// of the cylinder grows as a square.
TANDEM_HOST_DEVICE inline float rows_beyond_slopes(const CurvedBrick& brick, const float* half) {
  const float nearest = nearest_of(brick.shadow, half),
              aside = spread_of(half, brick.shadow.bin) * brick.radians_per_bin / nearest;
  return std::fabs(brick.height) * brick.cosine * aside * aside / nearest;
}

}  // namespace tandem::kernels
