#pragma once

#include "../plan/plan.hpp"

namespace tandem::pipeline {

/// Warns of a gap between neighbouring views, rad, if it is a hole, or wider than 5 degrees and than 5 steps;
/// or says that the angles look like radians. `open` is the part of the period for which no view stands, rad.
void warn_of_gap(Plan& plan, double gap, double open, double period);

}  // namespace tandem::pipeline
