#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../core/execution.hpp"
#include "../geometry/scan.hpp"
#include "../io/scan_reader.hpp"
#include "../io/volume_place.hpp"
#include "../operators/ramp_filter.hpp"

namespace tandem::pipeline {

struct Method;  // methods/method.hpp

enum class Initial { zero, fbp, file };

/// What a user asks for, as plain data. Positions and ranges count in the file's own rows, bins and views.
struct Recipe {
  std::string method = "fbp";  ///< its name, or the one that it has for a cone beam
  Filter filter;

  std::optional<Range> views, rows, bins;
  int binning = 0;                 ///< 2^binning cells each way become one
  std::optional<double> axis_bin;  ///< else the file's own, else the middle
  std::optional<double> voxel_size_mm;
  std::optional<Index> size, slices;                  ///< voxels along x and y; along z
  std::optional<Range> region_x, region_y, region_z;  ///< voxels of the full grid

  bool minus_log = true;
  std::optional<Range> air_bins;   ///< divide each view by their mean, beside flats or without
  double gain = 1;                 ///< counts a photon
  double max_floored_percent = 1;  ///< of transmissions below the floor of the logarithm, else refused

  Initial initial = Initial::zero;
  std::filesystem::path initial_file;
  int iterations = 30;
  float relaxation = 1;
  bool nonnegative = false;
  bool stop_by_discrepancy = false;
  std::optional<double> stop_relative, stop_seconds;

  std::vector<Device> devices = {Device::cpu()};  ///< several share a cone beam
  bool fewest_devices = false;                    ///< the first one alone, if it holds what is needed
  int streams = 3;                                ///< of each, in tiles
  Execution execution;                            ///< of the back-projection
  bool allow_unmatched = false;  ///< a solver on a pair that is none (`is_matched`), if it is asked for

  std::optional<std::size_t> host_bytes;    ///< else what the machine has to spare
  std::optional<std::size_t> device_bytes;  ///< of each GPU's own memory; else nine tenths of what is free
};

/// What will be done with a given scan: everything that follows from recipe and metadata before a pixel is
/// read.
struct Plan {
  Recipe recipe;
  const Method* method = nullptr;
  Range views, rows, bins;  ///< read from the file; no rows where no ray meets the grid
  Index rows_together = 1;  ///< of the file, in one row of `scan`
  Scan scan;                ///< selected and binned
  VolumeGrid grid;          ///< the region asked for; slice k of a parallel beam is row k of `scan`
  std::array<Index, 3> full_size{}, first{};  ///< x, y, z: of the grid that it is a region of; where in it
  bool pitch_known = false;
  double axis_in_file = 0;      ///< bins of the file
  std::vector<Device> devices;  ///< of the recipe's, those that are used
  Execution execution;          ///< resolved, one for all chunks
  bool matched = true;          ///< whether its two directions are each other's transpose
  bool tiled = false;      ///< vectors stay on the host, devices get parts (operators/tiled_projector.hpp)
  Index rows_at_once = 0;  ///< slices of a chunk
  std::size_t bytes = 0;   ///< host memory at the most
  std::size_t device_bytes = 0;  ///< of each GPU's own memory at the most; 0 on the CPU
  std::vector<std::string> warnings;

  /// The method's name for this kind of beam.
  std::string_view method_name() const;
  /// Whether line integrals go through the ramp filter, for the result or for the start.
  bool filters() const;
  /// Where vectors lie.
  Device home() const { return tiled ? Device::cpu() : devices.front(); }
  std::string unit() const { return pitch_known ? "1/mm" : "1/pixel"; }
  /// What the volume's file says of the grid: lengths in bins of the file where no pitch is known.
  io::VolumePlace place() const;
};

/// Pure but for asking the machine's and the device's memory. @throws GeometryError for what makes no sense
/// for this scan, a method that is not known, or one on a pair that does not match; DeviceError where the
/// device is not here or cannot do what is asked, or where not even one slice fits into memory (naming what
/// is needed).
Plan make_plan(const io::ScanInfo& info, const Recipe& recipe);

/// Memory that a process may still take, bytes.
std::size_t spare_host_memory();
/// What this process holds, and the most that it has held so far, bytes: its own, not that of the program
/// which started it.
std::size_t held_memory();
std::size_t peak_memory();

}  // namespace tandem::pipeline
