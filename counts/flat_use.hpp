#pragma once

#include <string_view>
#include <vector>

#include "../io/scans/scan_reader.hpp"
#include "../kernels/counts.hpp"
#include "combining.hpp"
#include "steps/options.hpp"

namespace tandem::pipeline {

using kernels::FlatMix;

/// Which flats serve which view. Flats between which no view was taken are a set.
struct FlatUse {
  Combining flat_method = Combining::mean, dark_method = Combining::mean;
  std::string_view between = "together";      ///< "linear", "nearest", "each" or "together"
  std::vector<std::vector<Index>> sets = {};  ///< the flats of each set, in the order of their times
  std::string_view divided_by = {};           ///< "the monitor" or "times of exposure"; or empty
  std::vector<double> scale = {};  ///< what a flat is then multiplied by when its dark is off; empty: 1
  /// Mix of flats of each view of the file; empty if all take the one set as it is.
  std::vector<FlatMix> views = {};

  bool by_monitor() const { return divided_by == "the monitor"; }
};

/// The sets of flats that the times of a scan tell; one set of all flats if there are no times.
std::vector<std::vector<Index>> flat_sets(const io::ScanInfo& info);

/// Whether each view has a flat of its own.
bool flats_are_of_views(const StepValues& values);

/// What the options `--flat-sets`, `--flat-method`, `--dark-method` and `--normalize-monitor` ask for. By
/// default flats are interpolated linearly between sets whose times are known, and else they are taken
/// together. Without a monitor, views and flats are divided by their times of exposure where these differ.
/// @throws FileError if the scan lacks the times, the flats or the monitor that this takes
FlatUse flat_use_of(const io::ScanInfo& info, const StepValues& values);

}  // namespace tandem::pipeline
