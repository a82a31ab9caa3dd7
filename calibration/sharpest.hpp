#pragma once

#include <functional>
#include <vector>

#include "changed_views.hpp"
#include "frame_stack.hpp"
#include "sharpness.hpp"

namespace tandem::calibration {

/// What slices are searched for.
enum class Sought { axis, roll, tilt, midplane };

/// What slices say of one number: by how much it differs from what the scan says; in bins, rows or rad.
struct Sharpened {
  Sought what;
  Verdict verdict = Verdict::flat;
  double change = 0, uncertainty = 0;  ///< 0 unless the verdict is `resolved`
};

struct SharpestSlices {
  Change change{};
  std::vector<Sharpened> numbers{};  ///< in the order in which they were asked for
  double common = 0;                 ///< @see SharpSlices::common
};

/// Finds by how much a scanner differs from what its views say: where slices far from the midplane are
/// sharpest. One number after the other is tried at nine values, first in steps that move the shadow of a
/// point at the edge by two cells, at cells joined two by two, then by half a cell and a quarter. `judged`
/// has the verdict, which is `flat` for less than a whole turn. A number that is not resolved stays as it is.
/// Where rays
/// rise, the slices are those with the most energy instead, and what a search finds too much in frames of the
/// volume that was found is taken away. `done` is called before each search, with its share of all. @throws
/// GeometryError for views that have no filter
SharpestSlices find_sharpest(const FrameStack& frames, const Scan& scan, const std::vector<Sought>& what,
                             const std::function<void(double)>& done = {}, Device device = Device::cpu());

}  // namespace tandem::calibration
