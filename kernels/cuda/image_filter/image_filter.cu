// Filters images: cut from frames, transformed in place, multiplied, transformed back, put into the frames.
// All images of a view are cut before any of them is put back.

#include "../../image_filter.hpp"

#include <algorithm>

#include "../../launches.hpp"
#include "../common/sent.cuh"
#include "../tables.hpp"
#include "image_transforms.cuh"

namespace tandem::kernels::cuda {

namespace {

constexpr int threads = 256;

/// Image i of all is block i % count of view i / count. Grid: (bins, rows of an image, images).
__global__ void __launch_bounds__(threads)
    cut(Image<const float> frames, FrameBlocks blocks, Images images, Index first) {
  const Index k = Index{blockIdx.x} * threads + threadIdx.x, r = blockIdx.y;
  const Index view = (first + blockIdx.z) / blocks.count, block = (first + blockIdx.z) % blocks.count;
  if (k >= images.bins) return;
  float value = 0;
  if (view < frames.n0) {
    const Index row = blocks.first_row + block * blocks.own - blocks.rows_beside + r,
                bin = k - blocks.bins_beside;
    value =
        element(frames, view, min(max(row, Index{0}), frames.n1 - 1), min(max(bin, Index{0}), frames.n2 - 1));
  }
  images.work[blockIdx.z * images.size + r * images.line + k] = value;
}

/// Grid: (frequencies of an image, images).
__global__ void __launch_bounds__(threads)
    respond(const float* __restrict__ response, float scale, Index count, float2* spectra) {
  const Index k = Index{blockIdx.x} * threads + threadIdx.x;
  if (k >= count) return;
  const float size = __fmul_rn(response[k], scale);
  float2& value = spectra[blockIdx.y * count + k];
  value = {value.x * size, value.y * size};
}

/// Grid: (bins, own rows of an image, images).
__global__ void __launch_bounds__(threads)
    put(Images images, FrameBlocks blocks, Index first, Range kept, Image<float> frames) {
  const Index bin = Index{blockIdx.x} * threads + threadIdx.x;
  const Index view = (first + blockIdx.z) / blocks.count, block = (first + blockIdx.z) % blocks.count;
  const Index row = blocks.first_row + block * blocks.own + blockIdx.y;
  if (bin >= frames.n2 || view >= frames.n0 || row < kept.first || row >= kept.last) return;
  const Index line = blockIdx.z * images.size + (blocks.rows_beside + blockIdx.y) * images.line;
  element(frames, view, row, bin) = images.work[line + blocks.bins_beside + bin];
}

Index groups(Index elements) { return ceil_div<Index>(elements, threads); }

/// One batch of images, in place.
class Filtering {
 public:
  Filtering(const ImageFilter& filter, const FilterBatch& batch, Stream& stream)
      : images_(batch.images),
        count_(filter.response.size()),
        scale_(1.0f / (filter.rows * filter.bins)),
        stream_(queue(stream)),
        transforms_(filter.rows, filter.bins, batch, stream),
        response_(filter.response, stream) {}
  void filter(float* images) const {
    cufftComplex* spectra = transforms_.forward(images);
    respond<<<grid_of(groups(count_), images_), threads, 0, stream_>>>(response_.data(), scale_, count_,
                                                                       spectra);
    after_launch();
    transforms_.backward(spectra);
  }

 private:
  Index images_, count_;
  float scale_;
  cudaStream_t stream_;
  ImageTransforms transforms_;
  Sent<float> response_;
};

void filter_frames(const ImageFilter& filter, const FrameBlocks& blocks, Range kept, Image<float> frames,
                   Stream& stream) {
  note_launch("image filter");
  const cudaStream_t s = queue(stream);
  const FilterBatch batch(filter.rows, filter.bins, blocks.count);
  const Filtering filtering(filter, batch, stream);
  const Scratch<float> work(batch.held * batch.size, s);
  const Image<const float> as_it_came{frames.data, frames.n0, frames.n1, frames.n2, frames.s0, frames.s1};
  const auto images_from = [&](Index first) {
    return Images{filter.bins, batch.line, batch.size, work.data() + first * batch.size};
  };
  for (Index view = 0; view < frames.n0; view += batch.frames) {
    const Index begin = view * blocks.count, used = batch.frames * blocks.count;
    for (Index first = 0; first < batch.held; first += batch.images) {
      const Images images = images_from(first);
      cut<<<grid_of(groups(filter.bins), filter.rows, batch.images), threads, 0, s>>>(as_it_came, blocks,
                                                                                      images, begin + first);
      after_launch();
      filtering.filter(images.work);
    }
    for (Index first = 0; first < used; first += batch.images) {
      const Index some = std::min(batch.images, used - first);
      put<<<grid_of(groups(frames.n2), blocks.own, some), threads, 0, s>>>(images_from(first), blocks,
                                                                           begin + first, kept, frames);
      after_launch();
    }
  }
}

}  // namespace

const ImageFilterKernels image_filter_kernels{filter_frames};

}  // namespace tandem::kernels::cuda
