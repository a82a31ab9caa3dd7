#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/execution.hpp"
#include "../../counts/preprocess.hpp"
#include "../../geometry/scan.hpp"
#include "../../geometry/views.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../../io/volumes/volume_place.hpp"
#include "recipe.hpp"

namespace tandem::pipeline {

struct Method;  // methods/method.hpp

/// How many slices are looked at before the first is made, where each is a problem of its own.
constexpr Index most_slices_ahead = 5;

/// Who computes: a device, and how projector and back-projector run there.
struct Worker {
  Device device = Device::cpu();  ///< where vectors lie; it may be a team (operators/projector.hpp)
  Execution execution;
  int threads = 0;  ///< above 0 for a helper (helper.hpp): the most that its loops take
};

/// What will be done with a scan: all that follows from recipe and metadata before a pixel is read.
struct Plan {
  const Method* method = nullptr;
  MethodOptions options;
  Preprocessing preprocessing;
  FlatUse flats;                   ///< which flats serve which view
  double max_floored_percent = 1;  ///< the most transmissions below the floor of the logarithm
  bool allow_unmatched = false;
  Range views, rows, bins;  ///< to be read from the file; no rows if no ray meets the grid
  Range rows_there;         ///< what may be read around `rows` as margins of steps, also if not selected
  RowMargin margin;         ///< rows that the steps need beside others, after binning
  Index rows_together = 1;  ///< how many rows of the file become one row of `scan`
  Scan scan;                ///< selected and binned
  VolumeGrid grid;          ///< the region that was asked for and is written; in a parallel beam slice k is
                            ///< row k of `scan`
  std::array<Index, 3> full_size{},
      first{};  ///< x, y, z: the size of the full grid, and where `grid` begins in it
  /// On which the method works: `grid`, of a solver with all else that its rays see. What lies outside would
  /// otherwise be pressed into the part that is asked for.
  VolumeGrid solved;
  std::array<Index, 3> inside{};  ///< x, y, z: where `grid` begins in `solved`
  bool pitch_known = false;
  double axis_in_file = 0;      ///< bins of the file
  std::vector<Device> devices;  ///< the devices of the recipe that are used
  int streams = 3;              ///< of each GPU: tiles, or chunks, that are on their way there at a time
  Model model = Model::pixel_driven;  ///< of the projector
  std::vector<Worker> workers;        ///< who takes the next chunk when free; resolved once for all chunks. A
                                      ///< GPU has several, so that one copies while another one computes;
                                      ///< the last one may be a helper
  bool matched = true;                ///< whether projector and back-projector are each other's transpose
  bool tiled = false;       ///< vectors stay on the host, devices get parts (operators/tiled_projector.hpp)
  Index stored_bytes = 4;   ///< of a voxel that leaves a GPU as its file stores it
  Index rows_at_once = 0;   ///< slices of a chunk
  Index slices_a_read = 0;  ///< whose rows are read at once, whole chunks; 0: those of one chunk
  Index bytes_a_piece = 0;  ///< of counts that go up to a GPU while the next ones are read; 0: a chunk is
                            ///< read as a whole
  Comm ranks = {};          ///< see `over_ranks`
  Index lines_at_once =
      0;  ///< of a strip that goes from rank to rank (operators/distributed/rank_projector.hpp)
  Index rows_prepared = 0;       ///< that a rank makes at a time of all views, before each gets its own views
  Index views_at_once = 0;       ///< where views are added to slices one block after another
  bool looks_ahead = false;      ///< whether options are open until some slices have been looked at
  bool needs_all_views = false;  ///< some step needs all views at once
  std::size_t bytes = 0;         ///< the most host memory
  std::size_t device_bytes = 0;  ///< the most memory of each GPU; 0 on the CPU
  std::vector<std::string> warnings;

  /// The name of the method for this kind of beam.
  std::string_view method_name() const;
  /// Whether slices are sums over views, which pass in blocks, as in FDK: then slabs are made one by one.
  bool by_views() const;
  /// Whether vectors lie on several ranks: all slices are one problem, of which a rank has some views and
  /// some lines of all slices, and its memory is that of its part.
  bool over_ranks() const;
  /// The views of `scan` whose projections a rank has: all, unless vectors lie on several; perhaps none.
  Range views_of_rank(int rank) const;
  Range own_views() const { return views_of_rank(ranks.rank()); }
  /// Whether line integrals go through the ramp filter, for the result or for the initial volume.
  bool filters() const;
  /// Where the vectors of one problem lie: "split over 2 GPUs".
  std::string vectors() const;
  /// Whether GPUs turn counts into line integrals, each those of its views.
  bool gpus_prepare() const;
  /// Where the first worker has its vectors, and how it runs.
  Device home() const { return workers.front().device; }
  const Execution& execution() const { return workers.front().execution; }
  /// The worker that helps the others; null if there is none.
  const Worker* helper() const { return workers.back().threads > 0 ? &workers.back() : nullptr; }
  std::string unit() const { return pitch_known ? "1/mm" : "1/pixel"; }
  /// The place of the grid, as the file of the volume has it. Lengths are in bins of the scan's file if no
  /// pitch is known.
  io::VolumePlace place() const;
};

/// Makes the plan. It asks for the memory of the machine and of the device, and has no other effects. @throws
/// GeometryError if the recipe makes no sense for this scan, if the method is not known, or if the method
/// needs a matched pair and has none; DeviceError if the device is not here or cannot do what is asked, or if
/// not even one slice fits into memory (it names what is needed).
Plan make_plan(const io::ScanInfo& info, const Recipe& recipe);

}  // namespace tandem::pipeline
