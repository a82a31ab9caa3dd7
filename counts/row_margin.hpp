#pragma once

#include <numeric>

#include "../core/ceil_div.hpp"
#include "../core/space.hpp"

namespace tandem::pipeline {

/// Which rows a step needs beside those that it is asked for, after binning. Rows come in blocks, which begin
/// at multiples of `block`, counted from the first row of the file. A row needs its whole block, and `beside`
/// more rows above and below that.
struct RowMargin {
  Index beside = 0, block = 1;

  /// All rows that some rows need, both counted from the first row of the file. They may reach beyond the
  /// rows that are there.
  Range around(Range rows) const {
    return {rows.first / block * block - beside, ceil_div(rows.last, block) * block + beside};
  }
  /// The margin of this step with another one after it.
  RowMargin then(const RowMargin& next) const {
    return {beside + ceil_div(next.beside, block) * block, std::lcm(block, next.block)};
  }
};

}  // namespace tandem::pipeline
