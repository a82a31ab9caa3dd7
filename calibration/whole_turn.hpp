#pragma once

#include <optional>
#include <span>

#include "../core/host_memory.hpp"
#include "../geometry/scan.hpp"

namespace tandem::calibration {

/// Line integrals are logarithms of the mean beam of a cell, or somebody else made them: along rays, perhaps.
enum class LinesOf { cells, others };

/// Rows of a scan as parallel rays of a whole turn: in equal steps of the angle, and in equal steps across
/// the axis, equally far to both sides of it.
struct WholeTurn {
  Index rows = 0, views = 0, rays = 0;
  double first_angle = 0;       ///< rad
  double first = 0, step = 0;   ///< the distance of the first ray from the axis, and that between rays
  UnsetVector<float> values{};  ///< (row, view, ray)
  bool to_nearer_side = false;  ///< whether rays go only as far as the side of the detector that sees less

  double distance(Index ray) const { return first + step * ray; }  ///< mm, or bins if their pitch is 1
  double angle(Index view) const { return first_angle + whole_turn * view / views; }
  std::span<const float> view(Index row, Index view) const {
    return {values.data() + (row * views + view) * rays, static_cast<std::size_t>(rays)};
  }
};

/// Resamples some rows (view, row, bin) of a scan. Rays that were not measured are those of the opposite
/// side: the second half turn of a parallel beam, or the nearer side of a half acquisition. Where these are
/// not there either, rays go as far as the nearer side does. At most `most` views are made. Rows of a cone
/// beam are taken for rows at the midplane. Empty where rays were measured from neither side, and for views
/// whose axis is not one bin for all.
std::optional<WholeTurn> whole_turn_of(std::span<const float> lines, const Scan& scan, Index rows,
                                       Index most = 720);

}  // namespace tandem::calibration
