#pragma once

#include <functional>
#include <string>

#include "../../io/scans/growing_scan.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../plan/plan.hpp"
#include "../watch/options.hpp"
#include "../watch/outcome.hpp"

namespace tandem::pipeline {

constexpr Index slices_written_at_once = 64;  ///< slices that come from a GPU at once

/// How long to wait for a scan that does not grow.
struct Patience {
  double seconds = 60;
  std::function<void(const std::string&)> say = {};  ///< called when no view comes; may be empty
};

/// Makes a volume from a scan that is being written, for a plan with `Recipe::follow`: views are added to the
/// volume as they come. When all planned views are there, the volume is written. It is the same as from
/// `reconstruct`, except for rounding, which depends on when views come. If no view comes for
/// `patience.seconds`, the volume is made from the views that are there, each with its weight among these.
/// `options.progress` counts views. The caller finishes the writer. @throws Error, and what `progress` throws
Outcome follow(io::GrowingScan& scan, const Plan& plan, io::VolumeWriter& writer, const Options& options,
               const Patience& patience = {});

}  // namespace tandem::pipeline
