#pragma once

// Boxes of a tensor in global memory on their way into shared memory: one bulk tensor copy from compute
// capability 9.0 on, pieces of 16 bytes before. What lies outside the tensor is zero.

#include "ampere.cuh"
#include "hopper.cuh"

namespace tandem::kernels::cuda {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr bool bulk_copies = true;
#else
constexpr bool bulk_copies = false;
#endif

/// Four dimensions, the first contiguous; its size, its stride and where boxes begin along it are whole
/// pieces.
struct Boxes {
  CUtensorMap map;  ///< only where bulk copies are
  const char* data;
  Index stride[3];  ///< bytes
  int size[4], box[4], element;
  __host__ __device__ int bytes() const { return box[0] * box[1] * box[2] * box[3] * element; }
};

/// Elements of two or eight bytes.
template <class T>
requires(sizeof(T) == 2 || sizeof(T) == 8) Boxes
    boxes_of(const T* data, const int (&size)[4], const Index (&stride)[3], const int (&box)[4],
             Device device) {
  Boxes b{{}, reinterpret_cast<const char*>(data), {}, {}, {}, sizeof(T)};
  std::copy_n(stride, 3, b.stride), std::copy_n(size, 4, b.size), std::copy_n(box, 4, b.box);
  if (compute_capability(device).major >= 9) {
    const auto type = sizeof(T) == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    b.map = tensor_map(type, data, size, stride, box);
  }
  return b;
}

/// Makes the barriers. One thread does it, before the block synchronizes.
__device__ inline void make_box_barriers(unsigned first, int count, int boxes) {
  if constexpr (bulk_copies) {
    for (int k = 0; k < count; ++k) make_barrier(first + 8 * k, boxes);
    publish_barriers();
  }
}

/// Begins to copy a box to `to`, a multiple of 128, or none. One warp does it, as often as the barrier has
/// boxes.
__device__ inline void begin_box(unsigned to, const Boxes& b, const int (&at)[4], bool wanted,
                                 unsigned barrier) {
  const int lane = threadIdx.x % 32;
  if constexpr (bulk_copies) {
    if (lane != 0) return;
    arrive_expecting(barrier, wanted ? b.bytes() : 0);
    if (wanted) fetch_box(to, b.map, at, barrier);
  } else {
    constexpr int piece = 16;
    const int pieces = b.box[0] * b.element / piece, lines = b.box[1] * b.box[2] * b.box[3];
    for (int k = lane; wanted && k < pieces * lines; k += 32) {
      const int line = k / pieces, i0 = at[0] + k % pieces * (piece / b.element),
                i1 = at[1] + line % b.box[1], i2 = at[2] + line / b.box[1] % b.box[2],
                i3 = at[3] + line / (b.box[1] * b.box[2]);
      const bool there = i0 >= 0 && i0 < b.size[0] && i1 >= 0 && i1 < b.size[1] && i2 >= 0 &&
                         i2 < b.size[2] && i3 >= 0 && i3 < b.size[3];
      const Index from = there ? i0 * b.element + i1 * b.stride[0] + i2 * b.stride[1] + i3 * b.stride[2] : 0;
      begin_copy(to + k * piece, b.data + from, there);
    }
  }
}

/// Waits until the boxes of the barrier's `round`-th use are there. All threads of the block do it.
__device__ inline void await_boxes(unsigned barrier, int round) {
  if constexpr (bulk_copies)
    wait(barrier, round & 1);
  else
    wait_copies();  // each its own; the block synchronizes next
}

}  // namespace tandem::kernels::cuda
