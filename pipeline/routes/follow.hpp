#pragma once

#include "../methods/work.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

/// Makes the volume of a scan that is being written (`Beside::following`): views are added as they come. When
/// all planned views are there, the volume is the same as along another route, except for rounding, which
/// depends on when views come. If no view comes for too long, each view gets its weight among those that are
/// there.
Maker begin_following(Work& work, ReadStation& read, PrepareStation& prepare);

}  // namespace tandem::pipeline
