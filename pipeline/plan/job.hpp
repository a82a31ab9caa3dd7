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

/// How many slices are looked at before the first is made, where each is a problem of its own.
constexpr Index most_slices_ahead = 5;

/// What is computed: all that follows from recipe and metadata before a pixel is read. It knows no device and
/// no byte; how it is computed is a `Flow`.
struct Job {
  const Method* method = nullptr;
  MethodOptions options;
  Preprocessing preprocessing;
  FlatUse flats;                   ///< which flats serve which view
  double max_floored_percent = 1;  ///< the most transmissions below the floor of the logarithm
  Range views, rows, bins;         ///< to be read from the file; no rows if no ray meets the grid
  Range rows_there;         ///< what may be read around `rows` as margins of steps, also if not selected
  RowMargin margin;         ///< rows that the steps need beside others, after binning
  Index rows_together = 1;  ///< how many rows of the file become one row of `scan`
  Scan scan;                ///< selected and binned
  /// The circle beside which the views of `scan` stand, as roll, tilt and shifts say it, selected and binned;
  /// none if `scan` is what the file says, or what frames are resampled to.
  std::optional<Scan> circle;
  const Scan& upright() const { return circle ? *circle : scan; }
  VolumeGrid grid;  ///< the region that was asked for and is written; in a parallel beam slice k is
                    ///< row k of `scan`
  std::array<Index, 3> full_size{},
      first{};  ///< x, y, z: the size of the full grid, and where `grid` begins in it
  /// The grid on which the method works: `grid`, of a solver with all else that its rays see. What lies
  /// outside would otherwise be pressed into the part that is asked for.
  VolumeGrid solved;
  std::array<Index, 3> inside{};  ///< x, y, z: where `grid` begins in `solved`
  bool pitch_known = false;
  double axis_in_file = 0;       ///< bins of the file
  FilteredRows filtered;         ///< of `scan`; its own detector if nothing filters
  bool looks_ahead = false;      ///< whether options are open until some slices have been looked at
  bool needs_all_views = false;  ///< some step needs all views at once

  /// The name of the method for this kind of beam.
  std::string_view method_name() const;
  /// Whether line integrals go through the ramp filter, for the result or for the initial volume.
  bool filters() const;
  std::string unit() const { return pitch_known ? "1/mm" : "1/pixel"; }
  /// The place of the grid, as the file of the volume has it. Lengths are in bins of the scan's file if no
  /// pitch is known.
  io::VolumePlace place() const;
};

/// What the user gave to the steps, and where nothing was given, the roll of the detector and the tilt of the
/// axis that the scan records. @throws GeometryError for angles that no step takes away
StepValues with_recorded_pose(StepValues given, const io::ScanInfo& info);

/// Makes the job of a recipe for a scan. It has no other effects. @throws GeometryError if the recipe makes
/// no sense for this scan, or if the method is not known
Job make_job(const io::ScanInfo& info, const Recipe& recipe);

/// Whether there is a filter for the views: of those of any geometry, if their sources go nearly along a
/// circle or a helix.
bool has_filter(const Scan& scan);

/// Adds what the user should know about the views, the axis and the columns of a job. @throws GeometryError
/// if no ray meets the volume, or if a half acquisition is none
void look_at_job(const Job& job, const io::ScanInfo& info, const Recipe& recipe,
                 std::vector<std::string>& warnings);

}  // namespace tandem::pipeline
