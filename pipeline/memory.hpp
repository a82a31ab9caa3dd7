#pragma once

#include "plan.hpp"

namespace tandem::pipeline {

/// What chunks of some slices take at the most, bytes: of the host, beside what the program itself holds, and
/// of a GPU's own memory. Grows with the slices.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices);
double device_bytes(const Plan& plan, Index slices);

}  // namespace tandem::pipeline
