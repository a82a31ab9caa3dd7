#pragma once

#include <span>
#include <vector>

#include "../io/scans/scan_reader.hpp"

namespace tandem::pipeline {

/// Cells (row, bin) of the file that have the same count in all flats; empty for fewer than three flats.
std::vector<char> constant_cells(const io::FramesView& flats);

/// What darks and flats say of cells (row, bin) of the file.
struct CellFrames {
  Index rows, bins;
  std::span<const float> dark;     ///< the darks as one; empty: there are none
  std::span<const float> span;     ///< flat - dark of one set; empty: there are no flats
  std::span<const char> constant;  ///< see `constant_cells`
};

/// The cells that cannot be trusted:
/// - hot: their dark is above the median of their row by 6 standard deviations (1.48 MAD) and by 1 % of the
///   median span of the row, below which it does no harm;
/// - dead: their span is below a fifth of the median span of the 5 x 5 cells around them;
/// - stuck: they are constant over the flats, in a row where this is rare (at most 1 %, or 3 cells).
/// A row needs two rows above and below it, and the answer does not depend on others.
std::vector<char> bad_cells(const CellFrames& frames);

}  // namespace tandem::pipeline
