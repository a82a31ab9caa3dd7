#pragma once

#include <algorithm>
#include <vector>

#include "../core/array.hpp"
#include "../core/ceil_div.hpp"

namespace tandem::kernels {

/// The factors of images of `rows` x `bins` at their frequencies: (row frequency, bin frequency), with bins /
/// 2 + 1 of the latter. The other half follows, because images and filters are real.
struct ImageFilter {
  Index rows = 0, bins = 0;
  std::vector<float> response = {};
};

/// The least number of at least `count` that is a product of 2, 3, 5 and 7, for which transforms are fast.
Index fast_length(Index count);

/// Filters an image of the size of the filter in place, on one thread of the CPU. It is periodic. What comes
/// out depends on the image and the filter alone, to the bit. Memory: rows x (bins + 2) floats, and 32 more
/// for each row or each bin.
void filter_image(const ImageFilter& filter, float* image);

/// How frames are cut into images that a filter takes. An image has `own` rows of a frame, and `rows_beside`
/// more above and below them; the first image begins its own at row `first_row` of the frame, which may lie
/// before it. Before the bins of a frame an image has `bins_beside` more. Beyond its edges a frame goes on
/// with its last rows and bins.
struct FrameBlocks {
  Index first_row, own, count;
  Index rows_beside, bins_beside;
};

/// What a GPU filters together: images of whole frames, in batches for transforms that depend on nothing but
/// the size of an image.
struct FilterBatch {
  Index line, size;    ///< floats of a line and of an image: a transform in place has room for the spectrum
  Index images;        ///< images of a transform; they stay in the L2 cache if they are not too large
  Index frames, held;  ///< frames filtered together, and the images for them, in whole batches

  FilterBatch(Index rows, Index bins, Index blocks) : line(2 * (bins / 2 + 1)), size(rows * line) {
    constexpr Index bytes = 32 << 20, most = 1 << 15;  // a grid has no more
    images = std::clamp<Index>(bytes / (4 * size), 1, most);
    frames = std::max<Index>(1, images / blocks);
    held = ceil_div(frames * blocks, images) * images;
  }
  /// Transforms take as much as their images, at most.
  double bytes() const { return 4.0 * size * (held + images); }
};

struct ImageFilterKernels {
  /// Filters frames (view, row, bin) on a GPU in place, block by block. Only the rows `kept` change. What
  /// comes out is what `filter_image` makes of each image, but for the errors of transforms in float.
  /// @pre the images of the filter are as large as those of the blocks
  void (*filter_frames)(const ImageFilter& filter, const FrameBlocks& blocks, Range kept, Image<float> frames,
                        Stream& stream);
};

/// Null for the CPU, which has `filter_image`. @throws DeviceError if the build lacks the backend
const ImageFilterKernels* image_filters(Device device);

}  // namespace tandem::kernels
