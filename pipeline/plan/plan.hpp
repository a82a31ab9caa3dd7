#pragma once

#include <string>
#include <vector>

#include "flow.hpp"
#include "job.hpp"

namespace tandem::pipeline {

/// What is computed from a scan, and how.
struct Plan {
  Job job;    ///< what is computed
  Flow flow;  ///< how it is computed
  std::vector<std::string> warnings;
};

/// Makes the plan: the job of the recipe, then the route that takes it, then the flow along that route. It
/// asks for the memory of the machine and of the device, and has no other effects. @throws GeometryError if
/// the recipe makes no sense for this scan, if the method is not known, or if the method needs a matched pair
/// and has none; DeviceError if the device is not here or cannot do what is asked, or if not even one slice
/// fits into memory: it names what is needed, for a solver also a method that does fit.
Plan make_plan(const io::ScanInfo& info, const Recipe& recipe);

}  // namespace tandem::pipeline
