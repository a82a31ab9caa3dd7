// Joseph's projector by texture units, and its exact transpose on the cores (cone_hats.hpp). A texture unit
// rounds both fractions of a position to 1/256; the transpose has float32 coefficients.

#include "../../cone.hpp"
#include "layered_texture.cuh"
#include "tasks.cuh"

namespace tandem::kernels::cuda {

namespace {

// ---- projection: a block has 32 bins x 64 rows of a view, a thread eight rows of a bin. Blocks of eight
// neighbouring views, which cross almost the same voxels, follow each other.

constexpr int bins_a_block = 32, rows_a_thread = 8, row_threads = cone_threads / bins_a_block,
              rows_a_block = row_threads * rows_a_thread, views_a_group = 8;

/// The planes of the volume, layer i at x = i or at y = i, rows are slices.
struct Planes {
  Image<const float> volume;
  bool along_x;
  __device__ float operator()(Index plane, Index slice, Index across) const {
    return along_x ? element(volume, slice, across, plane) : element(volume, slice, plane, across);
  }
};

/// The planes of a box that the rays of a sheet to some rows, from the first to the last, cross within it.
__device__ Range planes_met(const ConeFrame& n, const Sheet& sheet, Index first_row, Index last_row,
                            Layers box) {
  const auto height = [&](Index row) { return (row - n.midplane_row) * n.row_pitch; };
  const double low = n.z0 - n.pitch_z, high = n.z0 + n.pitch_z * box.rows;
  const double top = height(last_row), bottom = height(first_row);
  const Line above{top * sheet.depth.first - low, top * sheet.depth.step},
      below{high - bottom * sheet.depth.first, -bottom * sheet.depth.step};
  return both(where_between(-1, sheet.across, box.columns, box.layers),
              both(where_positive(above, box.layers), where_positive(below, box.layers)));
}

/// A line as float, of texels, whose middles are at one half.
__device__ float2 texels(Line line) {
  return {static_cast<float>(line.first + 0.5), static_cast<float>(line.step)};
}

/// Adds the planes of a box, which are in the texture, to the rays that cross planes of this kind.
__global__ void __launch_bounds__(cone_threads, 3)
    forward(cudaTextureObject_t texture, Layers box, ConeFrame n, const ConeView* __restrict__ views,
            bool along_x, Update update, Image<float> projections) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int2 at = patch_of(lane);
  const Index view = Index{blockIdx.z} * views_a_group + blockIdx.x % views_a_group;
  const Index bin = Index{blockIdx.x / views_a_group} * bins_a_block + warp % 4 * 8 + at.x,
              row = Index{blockIdx.y} * rows_a_block + warp / 4 * 4 + at.y;
  if (view >= projections.n0 || bin >= projections.n2 || row >= projections.n1) return;
  const Sheet sheet = sheet_of(n, views[view], bin);
  if (sheet.along_x != along_x) return;
  const Range planes = planes_met(n, sheet, row, row + (rows_a_thread - 1) * row_threads, box);
  const float2 across = texels(sheet.across), by_depth = texels(slices_by_depth(n, row));
  const auto first_depth = static_cast<float>(sheet.depth.first),
             depth_step = static_cast<float>(sheet.depth.step),
             rows_apart = static_cast<float>(row_threads * n.row_pitch / n.pitch_z);
  float sum[rows_a_thread] = {};
  float i = planes.first;
  for (int plane = static_cast<int>(planes.first); plane < static_cast<int>(planes.last); ++plane, ++i) {
    const float depth = fmaf(depth_step, i, first_depth), x = fmaf(across.y, i, across.x),
                slice = fmaf(by_depth.y, depth, by_depth.x), apart = rows_apart * depth;
#pragma unroll
    for (int r = 0; r < rows_a_thread; ++r)
      sum[r] += tex2DLayeredLod<float>(texture, x, fmaf(r, apart, slice), plane, 0);
  }
#pragma unroll
  for (int r = 0; r < rows_a_thread; ++r) {
    const Index here = row + r * row_threads;
    if (here < projections.n1)
      update(element(projections, view, here, bin),
             static_cast<float>(sheet.step * ray_length(n, here, bin)) * sum[r]);
  }
}

void joseph_forward(const ConeViews& packed, const Execution&, float alpha, Image<const float> volume,
                    float beta, Image<float> projections, Stream& stream) {
  note_launch("joseph forward");
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const dim3 blocks =
      grid_of(views_a_group * ceil_div<Index>(projections.n2, bins_a_block),
              ceil_div<Index>(projections.n1, rows_a_block), ceil_div<Index>(projections.n0, views_a_group));
  for (const bool along_x : {false, true}) {  // each ray is of one kind
    const Layers whole{along_x ? volume.n2 : volume.n1, volume.n0, along_x ? volume.n1 : volume.n2};
    LayeredTexture texture(whole, stream);
    Update update{alpha, beta};
    texture.for_each_part(whole, Planes{volume, along_x}, [&](Layers first, Layers count) {
      ConeFrame n(packed);
      n.x0 += n.pitch * (along_x ? first.layers : first.columns);
      n.y0 += n.pitch * (along_x ? first.columns : first.layers);
      n.z0 += n.pitch_z * first.rows;
      forward<<<blocks, cone_threads, 0, s>>>(texture.texture(), count, n, views->data(), along_x, update,
                                              projections);
      after_launch();
      update.beta = 1;
    });
  }
}

// ---- back-projection: a thread has eight slices of a column, and gathers the rays of all views that pass
// it.

constexpr int slices_a_thread = 8;

__global__ void __launch_bounds__(cone_threads)
    backward(ConeFrame n, const ConeView* __restrict__ views, Image<const float> projections, Update update,
             Image<float> volume) {
  const int2 at = patch_of(threadIdx.x % 32);
  const int warp = threadIdx.x / 32;
  const Index ix = Index{blockIdx.x} * 16 + warp % 2 * 8 + at.x,
              iy = Index{blockIdx.y} * 16 + warp / 2 * 4 + at.y, iz = Index{blockIdx.z} * slices_a_thread;
  if (ix >= volume.n2 || iy >= volume.n1) return;
  float sum[slices_a_thread] = {};
  for (Index v = 0; v < projections.n0; ++v) {
    const ConeView view = views[v];
    const Range about = bins_about(n, view, ix, iy, projections.n2);
    for (Index bin = about.first; bin < about.last; ++bin) {
      const Sheet sheet = sheet_of(n, view, bin);
      const Index plane = sheet.along_x ? ix : iy;
      const float weight =
          kernels::hat(sheet.across.at(plane), sheet.along_x ? iy : ix) * static_cast<float>(sheet.step);
      if (weight == 0) continue;
      const Line slices = slices_at(n, sheet.depth.at(plane));
      const Range rows = where_between(iz - 1, slices, iz + slices_a_thread, projections.n1);
      for (Index row = rows.first; row < rows.last; ++row) {
        const float value =
            weight * static_cast<float>(ray_length(n, row, bin)) * element(projections, v, row, bin);
        const double slice = slices.at(row);
#pragma unroll
        for (int k = 0; k < slices_a_thread; ++k) sum[k] = fmaf(kernels::hat(slice, iz + k), value, sum[k]);
      }
    }
  }
#pragma unroll
  for (int k = 0; k < slices_a_thread; ++k)
    if (iz + k < volume.n0) update(element(volume, iz + k, iy, ix), sum[k]);
}

void joseph_backward(const ConeViews& packed, const Execution&, float alpha, Image<const float> projections,
                     float beta, Image<float> volume, Stream& stream) {
  note_launch("joseph backward");
  const cudaStream_t s = queue(stream);
  const auto views = views_on_device(packed, stream);
  const dim3 blocks = grid_of(ceil_div<Index>(volume.n2, 16), ceil_div<Index>(volume.n1, 16),
                              ceil_div<Index>(volume.n0, slices_a_thread));
  backward<<<blocks, cone_threads, 0, s>>>(ConeFrame(packed), views->data(), projections, Update{alpha, beta},
                                           volume);
  after_launch();
}

}  // namespace

namespace cone_variants {

ConeVariant joseph() {
  return {.name = "joseph",
          .grades = {{Precision::float32, false, bounds::cone_texture, bounds::fdk_texture}},
          .forward = joseph_forward,
          .backward = joseph_backward,
          .working_memory = [](Precision, Shape volume, Shape projections, Device) -> WorkingMemory {
            const double views = double{sizeof(ConeView)} * projections[0];
            const Index layer = volume[0] * std::max(volume[1], volume[2]);
            return {views + LayeredTexture::bytes(volume[0] * volume[1] * volume[2], layer), views};
          },
          .kernels =
              [](Device) {
                return std::vector<std::string>{"joseph forward", "joseph backward"};
              }};
}

}  // namespace cone_variants

}  // namespace tandem::kernels::cuda
