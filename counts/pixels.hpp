#pragma once

#include "../geometry/scan.hpp"
#include "../io/scans/scan_reader.hpp"

namespace tandem::pipeline {

/// Calls use(pointer) with the pixels of the frames in their own type.
template <class Use>
decltype(auto) with_pixels(const io::FramesView& frames, const Use& use) {
  return with_type(frames.type, [&]<class T>(T) -> decltype(auto) {
    return use(reinterpret_cast<const T*>(frames.data));
  });
}

/// How many rows and bins of the file become one. `together`: rows, if that is known; 0: as `of_rows` say.
struct Binning {
  Index rows, bins;
  Binning(Index of_rows, int level, Index together = 0)
      : rows(together > 0 ? together : rows_together(of_rows, level)), bins(Index{1} << level) {}
  double size() const { return rows * bins; }
  /// How many of so many bins become cells: those behind them are not used, and nothing in them counts.
  Index used(Index of_bins) const { return of_bins - of_bins % bins; }
};

}  // namespace tandem::pipeline
