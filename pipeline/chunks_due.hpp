#pragma once

#include <vector>

#include "plan.hpp"

namespace tandem::pipeline {

/// The slices of the chunks that are still to be made, if a killed run left some slices (`done`, in order). A
/// chunk is left out only if all its slices are done. Where slices share their rows, as in a cone beam, none
/// is left out.
std::vector<Range> chunks_due(const Plan& plan, const std::vector<Range>& done);

/// Rows of the file, and how many of them, after binning, are margins that only the steps need.
struct RowsRead {
  Range rows;
  Index above = 0, below = 0;
};

/// What is read for some slices; in a cone beam all rows come with the first slices, and none with others.
RowsRead rows_read(const Plan& plan, Range slices);

/// How many slices the rows are for that are read with a chunk of some slices: in a cone beam all.
Index slices_fed(const Plan& plan, Index slices);

}  // namespace tandem::pipeline
