#pragma once

#include "plan.hpp"

namespace tandem::pipeline {

/// The most memory that chunks of this many slices take, bytes: on the host, beside what the program itself
/// holds, and on a GPU. Both grow with the slices.
double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices);
double device_bytes(const Plan& plan, Index slices);

}  // namespace tandem::pipeline
