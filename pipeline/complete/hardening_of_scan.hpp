#pragma once

#include <optional>

#include "first_volume.hpp"

namespace tandem::pipeline {

/// Finds the correction of beam hardening, and puts it into the recipe. If one curve does not explain all,
/// the dense parts of a first volume are looked at, too. `first`: that volume, if it was made. If there are
/// several ranks, the first one looks.
HardeningOfScan take_hardening(Recipe& recipe, io::ScanReader& reader, std::optional<FirstOfScan> first,
                               const Listener& listener);

}  // namespace tandem::pipeline
