#pragma once

#include "../../core/comm.hpp"
#include "../../counts/open_ends.hpp"
#include "outcome.hpp"

namespace tandem::pipeline {

/// All ranks: the first one gets what all did and found, the others keep their own.
void add_ranks(const Comm& ranks, Outcome& outcome, Findings& findings, OpenEnds& ends);

}  // namespace tandem::pipeline
