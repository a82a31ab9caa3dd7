#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../core/device.hpp"
#include "../core/execution.hpp"
#include "../core/range.hpp"
#include "../operators/ramp_filter.hpp"
#include "steps/options.hpp"

namespace tandem::pipeline {

enum class Initial { zero, fbp, file };

/// What methods read of what a user asks for. Each reads some of it (`Method::options`).
struct MethodOptions {
  Filter filter;
  Initial initial = Initial::zero;
  std::filesystem::path initial_file;
  int iterations = 30;
  float relaxation = 1;
  bool nonnegative = false;
  bool stop_by_discrepancy = false;
  std::optional<double> stop_relative, stop_seconds;
};

/// What a user asks for, as plain data. Positions and ranges count in the file's own rows, bins and views.
struct Recipe : MethodOptions {
  std::string method = "fbp";  ///< its name, or the one that it has for a cone beam

  std::optional<Range> views, rows, bins;
  int binning = 0;                 ///< 2^binning cells each way become one
  std::optional<double> axis_bin;  ///< else the file's own, else the middle
  std::optional<double> voxel_size_mm;
  std::optional<Index> size, slices;                  ///< voxels along x and y; along z
  std::optional<Range> region_x, region_y, region_z;  ///< voxels of the full grid

  StepValues steps;                ///< the options of the steps from counts to line integrals
  double gain = 1;                 ///< counts a photon
  double max_floored_percent = 1;  ///< of transmissions below the floor of the logarithm, else refused

  std::vector<Device> devices = {Device::cpu()};  ///< several share a cone beam
  bool fewest_devices = false;                    ///< the first one alone, if it holds what is needed
  int streams = 3;                                ///< of each, in tiles
  Execution execution;                            ///< of the back-projection
  bool allow_unmatched = false;  ///< a solver on a pair that is none (`is_matched`), if it is asked for

  std::optional<std::size_t> host_bytes;    ///< else what the machine has to spare
  std::optional<std::size_t> device_bytes;  ///< of each GPU's own memory; else nine tenths of what is free
};

}  // namespace tandem::pipeline
