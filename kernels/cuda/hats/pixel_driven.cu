// Voxel-driven back-projection by texture units, and its exact transpose on the cores (cone_hats.hpp). A
// texture unit rounds both fractions of a position to 1/256; the transpose has float32 coefficients.

#include "../../cone.hpp"
#include "layered_texture.cuh"
#include "tasks.cuh"

namespace tandem::kernels::cuda {

namespace {

// ---- back-projection: a block has 16 x 16 columns, a thread eight slices of one. Views are layers.

constexpr int slices_a_thread = 8;
static_assert(cone_threads == tile * tile);

/// Every ray times its length.
struct Rays {
  ConeFrame n;
  Image<const float> projections;
  __device__ float operator()(Index view, Index row, Index bin) const {
    return static_cast<float>(ray_length(n, row, bin)) * element(projections, view, row, bin);
  }
};

/// Views as the columns of a block meet them. The first column falls on bin, and one that is (x, y) voxels
/// away on bin + (bins_x x + bins_y y) / d, where d = depth + depth_x x + depth_y y, and its slices are 1 / d
/// rows apart.
struct StagedViews {
  float4 bins[cone_threads];   ///< bin, bins_x, bins_y, depth
  float2 depth[cone_threads];  ///< depth_x, depth_y
};

/// One thread a view.
__device__ void stage(const ConeFrame& n, const ConeView* __restrict__ views, Index count, Index ix, Index iy,
                      StagedViews& staged) {
  const int v = threadIdx.x;
  if (v >= count) return;
  const ConeView view = views[v];
  const VoxelColumn first = column_of(n, view, ix, iy);
  const double slope = (first.bin - n.axis_bin) * n.bin_pitch / n.sdd;
  const double rows = n.row_pitch / (n.sdd * n.pitch_z),
               bins = n.row_pitch * n.pitch / (n.bin_pitch * n.pitch_z);
  staged.bins[v] = {
      static_cast<float>(first.bin + 0.5), static_cast<float>(bins * (view.cos + slope * view.sin)),
      static_cast<float>(bins * (view.sin - slope * view.cos)), static_cast<float>(1 / first.rows.step)};
  staged.depth[v] = {static_cast<float>(-rows * n.pitch * view.sin),
                     static_cast<float>(rows * n.pitch * view.cos)};
}

/// Adds the views that are in the texture. V sdd / (cell d^2) = `area` over the square of its d.
__global__ void __launch_bounds__(cone_threads, 4)
    backward(cudaTextureObject_t texture, Index count, ConeFrame n, const ConeView* __restrict__ views,
             float area, Update update, Image<float> volume) {
  __shared__ StagedViews staged;
  const int2 at = patch_of(threadIdx.x % 32);
  const int warp = threadIdx.x / 32;
  const int dx = warp % 2 * 8 + at.x, dy = warp / 2 * 4 + at.y;
  const Index x0 = Index{blockIdx.x} * tile, y0 = Index{blockIdx.y} * tile,
              iz = Index{blockIdx.z} * slices_a_thread;
  const float x = dx, y = dy;
  const auto height = static_cast<float>(n.z0 / n.pitch_z + iz);
  const auto midplane = static_cast<float>(n.midplane_row + 0.5);
  float sum[slices_a_thread] = {};
  for (Index first = 0; first < count; first += cone_threads) {
    const int here = static_cast<int>(min(Index{cone_threads}, count - first));
    __syncthreads();
    stage(n, views + first, here, x0, y0, staged);
    __syncthreads();
#pragma unroll 1
    for (int v = 0; v < here; ++v) {
      const float4 bins = staged.bins[v];
      const float2 depth = staged.depth[v];
      // __fdividef: within 2 ulp, 2.4e-7
      const float rows = __fdividef(1.0f, fmaf(depth.x, x, fmaf(depth.y, y, bins.w)));
      const float bin = fmaf(fmaf(bins.y, x, bins.z * y), rows, bins.x), row = fmaf(height, rows, midplane);
      const float weight = rows * rows;
      const int layer = static_cast<int>(first) + v;
#pragma unroll
      for (int k = 0; k < slices_a_thread; ++k)
        sum[k] = fmaf(weight, tex2DLayeredLod<float>(texture, bin, fmaf(k, rows, row), layer, 0), sum[k]);
    }
  }
  if (x0 + dx >= volume.n2 || y0 + dy >= volume.n1) return;
#pragma unroll
  for (int k = 0; k < slices_a_thread; ++k)
    if (iz + k < volume.n0) update(element(volume, iz + k, y0 + dy, x0 + dx), area * sum[k]);
}

void pixel_driven_backward(const ConeViews& packed, const Execution&, float alpha,
                           Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  note_launch("pixel_driven backward");
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const dim3 blocks = grid_of(ceil_div<Index>(volume.n2, tile), ceil_div<Index>(volume.n1, tile),
                              ceil_div<Index>(volume.n0, slices_a_thread));
  const double rows = packed.row_pitch / (packed.sdd * packed.pitch_z);  // d over its mm
  const double area = packed.pitch * packed.pitch * packed.pitch_z * packed.sdd * rows * rows /
                      (packed.bin_pitch * packed.row_pitch);
  const Layers whole{projections.n0, projections.n1, projections.n2};
  LayeredTexture texture(whole, stream);
  Update update{alpha, beta};
  texture.for_each_part(whole, Rays{ConeFrame(packed), projections}, [&](Layers first, Layers count) {
    ConeFrame n(packed);
    n.axis_bin -= first.columns;
    n.midplane_row -= first.rows;
    backward<<<blocks, cone_threads, 0, s>>>(texture.texture(), count.layers, n, views->data() + first.layers,
                                             static_cast<float>(area), update, volume);
    after_launch();
    update.beta = 1;
  });
}

// ---- projection: a thread has eight rows of a bin, walks with its rays from plane to plane, and gathers the
// voxels of each that fall within a bin and a row of its cells.

constexpr int bins_a_block = 32, rows_a_thread = 8,
              rows_a_block = cone_threads / bins_a_block * rows_a_thread;

__global__ void __launch_bounds__(cone_threads)
    forward(ConeFrame n, const ConeView* __restrict__ views, Image<const float> volume, Update update,
            Image<float> projections) {
  const Index v = blockIdx.x, bin = Index{blockIdx.y} * bins_a_block + threadIdx.x % bins_a_block,
              row = Index{blockIdx.z} * rows_a_block + threadIdx.x / bins_a_block * rows_a_thread;
  if (bin >= projections.n2 || row >= projections.n1) return;
  const ConeView view = views[v];
  const bool along_x = sheet_of(n, view, bin).along_x;
  const Index planes = along_x ? volume.n2 : volume.n1, across = along_x ? volume.n1 : volume.n2;
  const double middle = bin;
  float sum[rows_a_thread] = {};
  for (Index plane = 0; plane < planes; ++plane) {
    const Line above = beyond(n, view, along_x, plane, middle - 1),
               below = beyond(n, view, along_x, plane, middle + 1);
    const Range met =
        both(where_positive(above, across), where_positive({-below.first, -below.step}, across));
    for (Index j = met.first; j < met.last; ++j) {
      const Index ix = along_x ? plane : j, iy = along_x ? j : plane;
      const VoxelColumn column = column_of(n, view, ix, iy);
      const float weight = kernels::hat(column.bin, bin) * static_cast<float>(column.weight);
      if (weight == 0) continue;
      const Range slices = where_between(row - 1, column.rows, row + rows_a_thread, volume.n0);
      for (Index iz = slices.first; iz < slices.last; ++iz) {
        const float value = weight * element(volume, iz, iy, ix);
        const double at = column.rows.at(iz);
#pragma unroll
        for (int r = 0; r < rows_a_thread; ++r) sum[r] = fmaf(kernels::hat(at, row + r), value, sum[r]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < rows_a_thread; ++r)
    if (row + r < projections.n1)
      update(element(projections, v, row + r, bin), static_cast<float>(ray_length(n, row + r, bin)) * sum[r]);
}

void pixel_driven_forward(const ConeViews& packed, const Execution&, float alpha, Image<const float> volume,
                          float beta, Image<float> projections, Stream& stream) {
  note_launch("pixel_driven forward");
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const dim3 blocks = grid_of(projections.n0, ceil_div<Index>(projections.n2, bins_a_block),
                              ceil_div<Index>(projections.n1, rows_a_block));
  forward<<<blocks, cone_threads, 0, s>>>(ConeFrame(packed), views->data(), volume, Update{alpha, beta},
                                          projections);
  after_launch();
}

}  // namespace

namespace cone_variants {

ConeVariant pixel_driven() {
  return {.name = "pixel_driven",
          .grades = {{Precision::float32, false, bounds::cone_texture, bounds::fdk_texture}},
          .forward = pixel_driven_forward,
          .backward = pixel_driven_backward,
          .working_memory = [](Precision, Shape, Shape projections, Device) -> WorkingMemory {
            const double views = double{sizeof(ConeView)} * projections[0];
            const Index layer = projections[1] * projections[2];
            return {views, views + LayeredTexture::bytes(projections[0] * layer, layer)};
          },
          .kernels =
              [](Device) {
                return std::vector<std::string>{"pixel_driven forward", "pixel_driven backward"};
              }};
}

}  // namespace cone_variants

}  // namespace tandem::kernels::cuda
