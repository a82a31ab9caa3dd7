#pragma once

// Volumes and projections as layers that texture units interpolate, a bounded number of bytes at a time.

#include <algorithm>

#include "../common/launch.cuh"

namespace tandem::kernels::cuda {

/// Size of a stack of layers, or the position of one stack inside another.
struct Layers {
  Index layers, rows, columns;
};

/// Writes value(layer, row, column) of what lies from `at` on into each texel, and zeros into the texels
/// after the last row and column.
template <class Value>
__global__ void fill_layers(cudaSurfaceObject_t surface, Layers texels, Layers at, Layers count,
                            Value value) {
  constexpr Index layers_a_thread = 8;  // neighbours may be contiguous where columns are not
  const Index column = Index{blockIdx.x} * blockDim.x + threadIdx.x,
              row = Index{blockIdx.y} * blockDim.y + threadIdx.y, first = blockIdx.z * layers_a_thread;
  if (column >= texels.columns || row >= texels.rows) return;
  const bool inside = column < count.columns && row < count.rows;
  for (Index layer = first; layer < min(first + layers_a_thread, count.layers); ++layer)
    surf2DLayeredwrite(inside ? value(at.layers + layer, at.rows + row, at.columns + column) : 0.0f, surface,
                       static_cast<int>(column * sizeof(float)), static_cast<int>(row),
                       static_cast<int>(layer));
}

/// Layers of float that are interpolated between the middles of texels within a layer. They are zero outside,
/// so that the values of parts of a layer, each by itself, add up to the value of the whole. It is an array
/// in the texture units' own order, which does not come from the stream's pool.
class LayeredTexture {
 public:
  /// Makes room for these layers, or for as many of them as fit.
  LayeredTexture(Layers wanted, const Stream& stream)
      : stream_(queue(stream)), extents_(fitting(wanted, stream.device())) {
    const cudaExtent extent = make_cudaExtent(extents_.columns, extents_.rows, extents_.layers);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    constexpr unsigned kind = cudaArrayLayered | cudaArraySurfaceLoadStore;
    cudaError_t status = cudaMalloc3DArray(&array_, &format, extent, kind);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      release_pool(stream.device());
      status = cudaMalloc3DArray(&array_, &format, extent, kind);
    }
    check(status);
    cudaResourceDesc what{};
    what.resType = cudaResourceTypeArray;
    what.res.array.array = array_;
    cudaTextureDesc how{};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeBorder;
    how.filterMode = cudaFilterModeLinear;
    check(cudaCreateTextureObject(&texture_, &what, &how, nullptr));
    check(cudaCreateSurfaceObject(&surface_, &what));
  }
  LayeredTexture(const LayeredTexture&) = delete;
  LayeredTexture& operator=(const LayeredTexture&) = delete;
  /// Waits: an array may not be freed before the last kernel that reads it has ended.
  ~LayeredTexture() {
    cudaStreamSynchronize(stream_);
    cudaDestroySurfaceObject(surface_);
    cudaDestroyTextureObject(texture_);
    cudaFreeArray(array_);
  }

  /// Upper bound of its memory, bytes, for `numbers` floats in layers of `layer` floats.
  static double bytes(Index numbers, Index layer) {
    const Index most = std::max(most_bytes, layer * Index{sizeof(float)});
    return std::min(most, numbers * Index{sizeof(float)});
  }

  cudaTextureObject_t texture() const { return texture_; }

  /// Calls body(where it begins, its extents) for each part of the whole that fits. The texture then has the
  /// numbers of the part: value(layer, row, column) of the whole.
  template <class Value, class Body>
  void for_each_part(Layers whole, const Value& value, const Body& body) {
    Layers at{};
    for (at.rows = 0; at.rows < whole.rows; at.rows += extents_.rows)
      for (at.columns = 0; at.columns < whole.columns; at.columns += extents_.columns)
        for (at.layers = 0; at.layers < whole.layers; at.layers += extents_.layers) {
          const Layers count{std::min(extents_.layers, whole.layers - at.layers),
                             std::min(extents_.rows, whole.rows - at.rows),
                             std::min(extents_.columns, whole.columns - at.columns)};
          fill(at, count, value);
          body(at, count);
        }
  }

 private:
  static constexpr Index most_bytes = Index{1} << 30;

  template <class Value>
  void fill(Layers at, Layers count, const Value& value) {
    const dim3 blocks = grid_of(ceil_div<Index>(extents_.columns, 32), ceil_div<Index>(extents_.rows, 8),
                                ceil_div<Index>(count.layers, 8));
    fill_layers<<<blocks, dim3(32, 8), 0, stream_>>>(surface_, extents_, at, count, value);
    after_launch();
  }
  static Layers fitting(Layers wanted, Device device) {
    const auto limit = [&](Index count, cudaDeviceAttr texture, cudaDeviceAttr surface) {
      for (const cudaDeviceAttr which : {texture, surface}) {
        int most = 0;
        check(cudaDeviceGetAttribute(&most, which, device.ordinal()));
        count = std::min<Index>(count, most);
      }
      return count;
    };
    Layers fit;
    fit.rows = limit(wanted.rows, cudaDevAttrMaxTexture2DLayeredHeight, cudaDevAttrMaxSurface2DLayeredHeight);
    fit.columns =
        limit(wanted.columns, cudaDevAttrMaxTexture2DLayeredWidth, cudaDevAttrMaxSurface2DLayeredWidth);
    const Index bytes = fit.rows * fit.columns * sizeof(float);
    fit.layers = limit(std::min(wanted.layers, std::max<Index>(most_bytes / bytes, 1)),
                       cudaDevAttrMaxTexture2DLayeredLayers, cudaDevAttrMaxSurface2DLayeredLayers);
    return fit;
  }
  /// Gives back the memory that the pool keeps for later.
  void release_pool(Device device) const {
    cudaMemPool_t pool = nullptr;
    check(cudaStreamSynchronize(stream_));
    check(cudaDeviceGetDefaultMemPool(&pool, device.ordinal()));
    check(cudaMemPoolTrimTo(pool, 0));
  }

  cudaStream_t stream_;
  Layers extents_;
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
  cudaSurfaceObject_t surface_ = 0;
};

}  // namespace tandem::kernels::cuda
