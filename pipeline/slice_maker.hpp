#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../calibration/sharpness.hpp"
#include "../core/array.hpp"
#include "../io/png.hpp"
#include "../io/scans/scan_reader.hpp"
#include "../io/volumes/volume_place.hpp"
#include "plan/recipe.hpp"

namespace tandem::pipeline {

/// Which slice of a recipe is looked at, and how closely.
struct Look {
  Index slice = 0;            ///< number in the volume that the recipe makes
  std::optional<Range> x, y;  ///< a part of its voxels; default: all
  Index coarser = 1;          ///< voxels that are so many times as wide, along x and y
  bool halves = false;        ///< also what every second view adds to it
};

/// A slice, or the sinogram that it is made of.
struct LookedAt {
  io::Picture picture;        ///< (y, x), or (view, bin) of the middle row
  std::vector<float> even{};  ///< what views 0, 2, ... add to a slice, if that was asked for
  /// How far about its middle both sides of the detector see a slice, voxels: a half acquisition sees what
  /// lies farther out from one side only.
  double seen_twice = 0;
  io::VolumePlace place;              ///< where the slice is
  std::string unit, method, model;    ///< as a report has them
  double axis_bin = 0;                ///< in bins of the file
  Range rows, bins;                   ///< what was read of the file
  std::vector<std::string> warnings;  ///< warnings of the plan and of the data
  std::vector<std::string> made;      ///< what was made anew: "counts", "lines", "filter", ...
};

/// A slice whose voxels, (1, y, x), lie in host memory that a later slice uses again when nobody has them.
struct LandedSlice {
  LookedAt about;  ///< without values of the picture
  std::shared_ptr<const Array> voxels;
};

/// Makes slices of a scan, one at a time, as `reconstruct` makes them by a filter, and keeps counts, line
/// integrals, filtered data and operators, so that only what has changed is made anew. In a parallel beam a
/// slice that is not coarser has the same bits as in a run on the same device; in a fan or cone beam it is
/// the same up to rounding. What is kept takes about three fifths of the memory of the recipe at most, unless
/// a single slice takes more.
class SliceMaker {
 public:
  explicit SliceMaker(io::ScanReader& reader);
  ~SliceMaker();

  /// `go_on` is called often; it ends the work by throwing. @throws as `make_plan` and `reconstruct` do, and
  /// GeometryError for a method that is no filter
  LookedAt slice(const Recipe& recipe, const Look& look, const std::function<void()>& go_on);
  /// The same for one that is only passed on: its voxels are not copied once more. It has no halves.
  LandedSlice landed_slice(const Recipe& recipe, const Look& look, const std::function<void()>& go_on);
  /// The line integrals behind it.
  LookedAt sinogram(const Recipe& recipe, const Look& look, const std::function<void()>& go_on);
  /// How far opposite views differ in them; none if the beam is not parallel or has no such views.
  calibration::OppositeViews opposite_views(const Recipe& recipe, const Look& look,
                                            const std::function<void()>& go_on);
  /// How many slices the recipe makes, and voxels along y and x: the full grid. @throws as `make_plan` does
  std::array<Index, 3> full_size(const Recipe& recipe) const;
  /// The scan, of which the parts that slices asked for are kept. One thread at a time reads it.
  io::ScanReader& kept_scan();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::pipeline
