#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "../../core/array.hpp"

namespace tandem::pipeline {

/// The sizes of the windows in which `median_fill` looks for good neighbours: `first`, `first` + 2, ...
/// `last`.
struct FillWindow {
  Index first = 3, last = 9;
};

/// Marks of pixels.
enum class Pixel : char {
  good,
  bad,     ///< to be filled
  unknown  ///< not to be filled, and not to be filled from
};

/// Calls use(row, bin, places) for each bad pixel, in their order, with the places row * bins + bin of the
/// good ones that it is filled from. Bad pixels without a good one are left out. `frame`: rows and bins.
void for_each_fill(std::pair<Index, Index> frame, std::span<const Pixel> marks, FillWindow window,
                   const std::function<void(Index, Index, const std::vector<Index>&)>& use);

/// Gives each bad pixel of an image (row, bin) the median of the good ones in the first window that has any;
/// for an even number, the mean of the two in the middle. Windows are cut off at the borders. All values are
/// those of the image as it came. A bad pixel without a good one in the last window stays bad, and as it is.
/// @returns how many it filled in each row
std::vector<Index> median_fill(const Image<float>& image, std::span<Pixel> marks, FillWindow window = {});

}  // namespace tandem::pipeline
