#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../../core/comm.hpp"
#include "../../core/device.hpp"
#include "../../core/execution.hpp"
#include "../../core/range.hpp"
#include "../../counts/steps/options.hpp"
#include "../../geometry/views.hpp"
#include "../../operators/ramp_filter.hpp"
#include "../../solvers/bounds.hpp"

namespace tandem::pipeline {

enum class Initial { zero, fbp, file };

/// The part of a user's request that methods read. Each method reads some of it (`Method::options`).
struct MethodOptions {
  Filter filter;
  std::optional<Initial> initial;  ///< default: as the method says; a plan has one
  std::filesystem::path initial_file;
  std::optional<int> iterations;  ///< likewise
  float relaxation = 1;
  bool nonnegative = false;
  std::optional<Index> subsets;          ///< of views; a plan has them for a method that goes through subsets
  std::optional<float> lowest, highest;  ///< of all voxels, 1/mm or 1/pixel
  std::optional<float> tv_weight;  ///< of total variation, beside data of mean weight 1; default: is found
  std::optional<float> tv_huber;   ///< differences of neighbours below it are squared; default: none are
  std::optional<float> tikhonov_weight;  ///< of half of |x|^2, beside half of |Ax - y|^2; default: none
  bool stop_by_discrepancy = false, stop_by_gcv = false, stop_by_ncp = false;
  std::optional<double> stop_relative, stop_seconds, stop_gap;

  Bounds bounds() const;  ///< `lowest` or zero, to `highest`
};

/// What a user asks for, as plain data. Positions and ranges count in the rows, bins and views of the file.
struct Recipe : MethodOptions {
  std::string method = "fbp";  ///< its name, or its name for a cone beam

  std::optional<Range> views, rows, bins;
  int binning = 0;                    ///< 2^binning x 2^binning cells become one
  std::optional<double> axis_bin;     ///< default: the file's own, else the middle
  std::vector<double> row_axis_bins;  ///< of each row of the file, in the place of one for all; may be empty
  std::optional<double> voxel_size_mm;
  std::optional<Index> size, slices;                  ///< voxels along x and y; along z
  std::optional<Range> region_x, region_y, region_z;  ///< voxels of the full grid

  std::optional<Padding> padding;     ///< of the ramp filter; default: cosine
  std::optional<Index> padding_bins;  ///< default: half of the bins

  StepValues steps;  ///< the options of the steps from counts to line integrals
  /// Whether a solver, too, takes frames that are resampled to an upright detector and to views that are not
  /// moved, in the place of views that stand where they stood.
  bool resample_frames = false;
  double gain = 1;  ///< counts per photon
  double max_floored_percent =
      1;  ///< the most transmissions below the floor of the logarithm; more are refused

  std::vector<Device> devices = {Device::cpu()};  ///< which share the work
  bool fewest_devices = false;                    ///< for a cone beam only the first one, if it holds that
  int streams = 3;                                ///< of each GPU, for chunks or tiles on their way
  Index stored_bytes = 4;                         ///< of a voxel that leaves a GPU as its file stores it
  Index rows_at_once = 0;                         ///< slices of a chunk, at most; 0: chosen
  std::optional<Model> model;                     ///< default: the fastest, of a cone beam the footprint
  Execution execution;                            ///< how projector and back-projector run
  bool allow_unmatched = false;  ///< whether a solver may take a pair that does not match (`is_matched`)

  Comm ranks = {};  ///< that share the work; of a cone beam that a solver takes also the vectors

  bool follow = false;  ///< the scan is being written: its views are added to the volume as they come

  std::optional<std::size_t> host_bytes;    ///< default: what the machine has to spare
  std::optional<std::size_t> device_bytes;  ///< of each GPU; default: nine tenths of what is free
};

}  // namespace tandem::pipeline
