#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../core/execution.hpp"
#include "../geometry/scan.hpp"
#include "../io/scan_reader.hpp"
#include "../io/volume_place.hpp"
#include "preprocess.hpp"
#include "recipe.hpp"

namespace tandem::pipeline {

struct Method;  // methods/method.hpp

/// What will be done with a given scan: everything that follows from recipe and metadata before a pixel is
/// read.
struct Plan {
  const Method* method = nullptr;
  MethodOptions options;
  Preprocessing preprocessing;
  double max_floored_percent = 1;  ///< of transmissions below the floor of the logarithm
  bool allow_unmatched = false;
  Range views, rows, bins;  ///< read from the file; no rows where no ray meets the grid
  Index rows_together = 1;  ///< of the file, in one row of `scan`
  Scan scan;                ///< selected and binned
  VolumeGrid grid;          ///< the region asked for; slice k of a parallel beam is row k of `scan`
  std::array<Index, 3> full_size{}, first{};  ///< x, y, z: of the grid that it is a region of; where in it
  bool pitch_known = false;
  double axis_in_file = 0;      ///< bins of the file
  std::vector<Device> devices;  ///< those of the recipe that are used
  int streams = 3;              ///< of each, in tiles
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

}  // namespace tandem::pipeline
