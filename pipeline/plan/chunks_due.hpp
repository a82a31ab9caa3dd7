#pragma once

#include <vector>

#include "plan.hpp"

namespace tandem::pipeline {

/// The slices of the chunks that are still to be made, if a killed run left some slices (`done`, in order). A
/// chunk is left out only if all its slices are done.
std::vector<Range> chunks_due(const Plan& plan, const std::vector<Range>& done);

/// The number of rows at whose multiples chunks begin and end, counted from the first row of the file after
/// binning. The blocks of the steps begin there too, so that no block is made twice.
Index block_of_chunks(const Plan& plan);

/// Rows of the file, and how many of them, after binning, are margins that only the steps need.
struct RowsRead {
  Range rows;
  Index above = 0, below = 0;
  Range counted{};  ///< rows after binning, counted from the first one read, that lie in no margin and in no
                    ///< chunk before
};

/// What is read for a chunk of slices.
RowsRead rows_read(const Plan& plan, Range slices);
/// What is read for some rows of the job's scan. All of them count.
RowsRead rows_around(const Job& job, Range rows);

}  // namespace tandem::pipeline
