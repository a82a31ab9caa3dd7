#pragma once

#include "plan.hpp"

namespace tandem::pipeline {

/// Decides how many views of a scan that is followed are added at once. The whole volume is held, where the
/// worker computes. @throws DeviceError if it does not fit with one view; GeometryError for a method or a
/// model that needs all views at once
void choose_batches(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);

}  // namespace tandem::pipeline
