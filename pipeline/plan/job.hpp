#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../counts/preprocess.hpp"
#include "../../geometry/filtered_rows.hpp"
#include "../../geometry/scan.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/volumes/volume_place.hpp"
#include "recipe.hpp"

namespace tandem::pipeline {

struct Method;  // methods/method.hpp

/// The most slices that are looked at before the first one is made, if each slice is a problem of its own.
constexpr Index most_slices_ahead = 5;

/// What is computed: all that follows from recipe and metadata before a pixel is read. A job names no device
/// and no number of bytes. How it is computed is a `Flow`.
struct Job {
  const Method* method = nullptr;
  Recipe options;  ///< with what its method left open; the flow alone asks it for devices and memory
  Preprocessing preprocessing;
  FlatUse flats;            ///< which flats serve which view
  Range views, rows, bins;  ///< what is read from the file; no rows if no ray meets the grid
  Range rows_asked;  ///< the rows of the file that the user selected: slices lie where these see the axis
  Range rows_there;  ///< the rows that may be read around `rows` as margins of steps, even if they are not
                     ///< selected
  RowMargin margin;  ///< rows that the steps need beside others, after binning
  Index rows_beside = 0;    ///< rows of `scan` beside those that meet slices, from which the model
                            ///< interpolates
  Index rows_together = 1;  ///< how many rows of the file become one row of `scan`
  Scan scan;                ///< selected and binned
  /// The circle from which the views of `scan` deviate by roll, tilt and shifts, selected and binned. Empty
  /// if `scan` is as the file says, or if frames are resampled to it.
  std::optional<Scan> circle;
  const Scan& upright() const { return circle ? *circle : scan; }
  VolumeGrid grid;  ///< the region that is written; in a parallel beam slice k is row k of `scan`
  std::array<Index, 3> full_size{},
      first{};  ///< size of the full grid, and the first voxel of `grid`; x, y, z
  /// The grid on which the method works. A solver works on all that the rays of `grid` see: attenuation
  /// outside `grid` would otherwise be pressed into it. For other methods it is `grid`.
  VolumeGrid solved;
  std::array<Index, 3> inside{};  ///< the first voxel of `grid` in `solved`; x, y, z
  bool pitch_known = false;
  double axis_in_file = 0;       ///< position of the axis, in bins of the file
  FilteredRows filtered;         ///< rows of `scan` after the filter; as its detector if nothing filters
  bool looks_ahead = false;      ///< whether options are chosen only after some slices have been looked at
  bool needs_all_views = false;  ///< whether a step needs all views at once

  /// The name of the method for this kind of beam.
  std::string_view method_name() const;
  /// Whether line integrals go through the ramp filter, for the result or for the initial volume.
  bool filters() const;
  std::string unit() const { return pitch_known ? "1/mm" : "1/pixel"; }
  /// The place of the grid, as the file of the volume has it. Lengths are in bins of the scan's file if no
  /// pitch is known.
  io::VolumePlace place() const;
};

}  // namespace tandem::pipeline
