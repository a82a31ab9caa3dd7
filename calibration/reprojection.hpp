#pragma once

#include "../geometry/scan.hpp"
#include "../operators/linear_operator.hpp"
#include "frame_stack.hpp"

namespace tandem::calibration {

/// The line integrals, in the views of a scan, of the volume that these views make of their frames.
class Reprojection {
 public:
  /// The frames outlive it. @throws GeometryError for orbits that have no filter
  Reprojection(const FrameStack& frames, const Scan& scan, Device device);
  /// Smoothed, of the volume of all views. What the rays of a point source leave of the frames is
  /// reconstructed once more: a filter makes edges beside the midplane such that views seem moved. (Parallel
  /// rays have no such edges, and a volume that is nearer to the frames has more of their noise.)
  FrameStack of_all();
  /// The same of the volume that every second view makes, from the first or the second one, and made once.
  FrameStack of_half(Index first);

 private:
  /// Adds what filtered frames make to the volume times `before`, and takes its line integrals.
  void see(const Array& filtered, float before, Array& x, Array& y);
  FrameStack smoothed_frames(const Array& y) const;
  Array field_of_view(const Scan& scan) const;

  const FrameStack& frames_;
  bool parallel_;
  VolumeGrid grid_;
  LinearOperator A_, F_, B_;
  Stream& stream_;
  Array measured_, filtered_, round_;
};

}  // namespace tandem::calibration
