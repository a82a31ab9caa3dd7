// Back-projection by separable footprints; separable_footprint.cu has the loop. The product on tensor cores
// is P[16 columns x 8 rows] = W[16 columns x 16 bins] Q[16 bins x 8 rows], and P is the profile.

#include <algorithm>

#include "../common/boxes.cuh"
#include "data.cuh"
#include "separable_footprint.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr int bits = profile_bits;
constexpr int nowhere = 1 << 30;

struct Problem : BackwardLayout {
  Tiles tiles;
  const Range* met;  ///< views that each chunk of slices meets
  Index nz;
  int rows, bins;
};

/// The window of a tile: first bin and row, and rows, which are none if it meets no cell.
struct alignas(16) TileWindow {
  int bin, row, rows;
  bool narrow;  ///< at most 8 bins
  Wide wide;
};

/// What a block knows of one view.
struct Slot {
  TileWindow tiles[warps];
  int bin, row;  ///< first ones of the block's window; bin == nowhere: it meets no cell
  alignas(16) Rung rungs[warps][columns];
};
static_assert(sizeof(Slot) == slot_bytes);

struct Memory {
  unsigned windows, arrived;  ///< addresses, two of each
  float* profile;             ///< profile of this warp
  Slot* slots;
};

__device__ inline Memory memory_of(const Problem& n, unsigned char* shared) {
  unsigned char* after = shared + 2 * n.window_bytes() + spare_rows;
  Slot* slot = reinterpret_cast<Slot*>(after + 16);
  const auto windows = shared_address(shared);
  return {windows, static_cast<unsigned>(windows + (after - shared)),
          reinterpret_cast<float*>(slot + slots) + threadIdx.x / 32 * columns * n.profile_rows, slot};
}

/// What this lane reads of the shadows of its warp's tile, one view after the other.
struct Reader {
  const uint4* weights;
  const Ladder* ladders;
  const int* bins;
  Index tiles;  ///< tiles of a view
  __device__ Reader(const Problem& n, const TileShadows& shadows) : tiles(n.tiles.count()) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, across = ceil_div(n.tiles.across, tiles_x);
    const int x = own_block_y() % across * tiles_x + warp % tiles_x,
              y = own_block_y() / across * tiles_y + warp / tiles_x;
    const Index tile = Index{min(y, n.tiles.down - 1)} * n.tiles.across + min(x, n.tiles.across - 1);
    weights = shadows.weights + tile * 64 + lane;
    ladders = shadows.ladders + tile * columns + lane % columns;
    bins = shadows.bins + tile;
  }
  __device__ uint4 weight(int view, int part) const { return weights[view * tiles * 64 + part * 32]; }
  __device__ Ladder ladder(int view) const { return ladders[view * tiles * columns]; }
  __device__ int bin(int view) const { return bins[view * tiles]; }
};

/// Finds window and rungs, each warp for its tile.
template <int chunk>
__device__ inline void prepare(const Problem& n, const Ladder& ladder, int code, Slot& slot) {
  constexpr double rounding = 1e-3;  // rows: more than fixed point can be off
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const double begin = ladder.first + ladder.step * (1.0 * blockIdx.x * chunk);
  const int row = __reduce_min_sync(~0u, __double2int_rd(begin - rounding)) & ~7,
            last = __reduce_max_sync(~0u, __double2int_ru(begin + ladder.step * chunk)) + 2;
  const int bins = code & (most_bins - 1), bin = (code - bins) / most_bins;
  const bool met = row < n.rows && last > 0 && bin < n.bins && bin + bins > 0;
  const auto width = static_cast<float>(ladder.step);
  const Wide wide = wide_of(width <= 1, width >= 1 && width <= 2);
  slot.rungs[warp][lane % columns] = {fixed<bits>(begin - row + ladder.step * (chunk / 2)),
                                      fixed<bits>(ladder.step)};
  if (lane == 0)
    slot.tiles[warp] = {bin, row, met ? min(ceil_div(last - row, 8) * 8, n.profile_rows - 8) : 0, bins <= 8,
                        wide};
}

/// Finds where the window begins that holds the windows of all tiles. One warp does it for all.
__device__ inline void join(Slot& slot) {
  const TileWindow tile = slot.tiles[threadIdx.x % warps];
  const int bin = __reduce_min_sync(~0u, tile.rows > 0 ? tile.bin : nowhere),
            row = __reduce_min_sync(~0u, tile.rows > 0 ? tile.row : nowhere);
  if (threadIdx.x % 32 == 0) slot.bin = bin, slot.row = row;
}

/// The place where a lane's rows of ldmatrix begin, from the start of a tile's window. If the window is
/// narrow, four matrices are two of each plane; else each plane takes a load. Bins that no shadow reaches
/// have weight zero, whatever is read for them.
__device__ inline unsigned row_of_lane(const Problem& n, bool narrow) {
  const int lane = threadIdx.x % 32, bin = min(narrow ? lane % 8 : lane % 16, n.tile_bins - 1);
  const int at = narrow ? lane / 16 * n.plane_bytes() + lane / 8 % 2 * 16 : lane / 16 * 16;
  return bin * n.bin_bytes() + at;
}

/// The profiles of the tile's columns, 16 rows at a time.
template <bool narrow>
__device__ inline void make_profiles(const Problem& n, const uint4& high, const uint4& low, unsigned window,
                                     int rows, float* profile) {
  const unsigned w[4] = {high.x, high.y, high.z, high.w}, rest[4] = {low.x, low.y, low.z, low.w};
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4 * 2;
  float* to = profile + g * n.profile_rows + q;
  unsigned from = window + row_of_lane(n, narrow);
  for (int row = 0; row < rows; row += 16, from += 32, to += 16) {
    unsigned a[4], b[4];
    load_transposed(a, from);
    if (!narrow) load_transposed(b, from + n.plane_bytes());
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (half == 1 && row + 8 >= rows) break;
      float d[4] = {};
      if constexpr (narrow) {
        multiply(d, w[0], w[1], a[half]);
        multiply(d, rest[0], rest[1], a[half]);
        multiply(d, w[0], w[1], a[2 + half]);
      } else {
        multiply(d, w, a[2 * half], a[2 * half + 1]);
        multiply(d, rest, a[2 * half], a[2 * half + 1]);
        multiply(d, w, b[2 * half], b[2 * half + 1]);
      }
      *reinterpret_cast<float2*>(to + 8 * half) = {d[0], d[1]};
      *reinterpret_cast<float2*>(to + 8 * half + 8 * n.profile_rows) = {d[2], d[3]};
    }
  }
}

template <Wide wide, int per_lane>
__device__ inline void integrate(const Problem& n, const Rung* rungs, const float* profile,
                                 float (&sum)[columns][per_lane]) {
  const int z = static_cast<int>(threadIdx.x % 32) - 16 * per_lane;  // from the middle of the chunk
#pragma unroll
  for (int k = 0; k < columns; k += 2) {
    const int4 both = reinterpret_cast<const int4*>(rungs)[k / 2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const Rung r = c == 0 ? Rung{both.x, both.y} : Rung{both.z, both.w};
      const float width = r.step * (1 / one_cell<bits>);
#pragma unroll
      for (int j = 0; j < per_lane; ++j)
        sum[k + c][j] = add_integral<wide, bits>(profile + (k + c) * n.profile_rows,
                                                 r.middle + r.step * (z + 32 * j), width, sum[k + c][j]);
    }
  }
}

struct Target {
  Image<float> volume;
  bool by_fours;
  Update update;  ///< alpha: times the unit
  const float* unit;
};

template <int per_lane>
__device__ void write(const Problem& n, const Target& out, const float (&sum)[columns][per_lane]) {
  const int warp = threadIdx.x / 32, across = ceil_div(n.tiles.across, tiles_x);
  const Index x0 = Index{blockIdx.y % across * tiles_x + warp % tiles_x} * edge,
              y0 = Index{blockIdx.y / across * tiles_y + warp / tiles_x + n.tiles.first} * edge;
  if (y0 >= Index{n.tiles.first + n.tiles.down} * edge) return;
  const Update update{out.update.alpha * *out.unit, out.update.beta};
#pragma unroll
  for (int j = 0; j < per_lane; ++j) {
    const Index z = (Index{blockIdx.x} * per_lane + j) * 32 + threadIdx.x % 32;
    if (z >= n.nz) continue;
#pragma unroll
    for (int k = 0; k < columns; k += edge) {
      const Index y = y0 + k / edge;
      if (y >= n.tiles.ny || x0 >= n.tiles.nx) continue;
      float* line = &element(out.volume, z, y, x0);
      if (out.by_fours)
        update(*reinterpret_cast<float4*>(line), {sum[k][j], sum[k + 1][j], sum[k + 2][j], sum[k + 3][j]});
      else
#pragma unroll
        for (int x = 0; x < edge; ++x)
          if (x0 + x < n.tiles.nx) update(line[x], sum[k + x][j]);
    }
  }
}

/// While view s is computed, the window of s + 1 arrives; that of s + 2 is joined, of s + 3 prepared.
template <int per_lane>
__global__ void __launch_bounds__(warps * 32, 2)
    backward(Problem n, TileShadows shadows, const __grid_constant__ Boxes data, Target out) {
  extern __shared__ __align__(128) unsigned char shared[];
  constexpr int chunk = 32 * per_lane;
  const Memory memory = memory_of(n, shared);
  const Reader reader(n, shadows);
  const int warp = threadIdx.x / 32;
  const int first = static_cast<int>(n.met[blockIdx.x].first),
            views = static_cast<int>(n.met[blockIdx.x].last) - first;
  const auto slot = [&](int view) -> Slot& { return memory.slots[view % slots]; };
  const auto last = [&](int view) { return first + max(min(view, views - 1), 0); };
  const auto begin = [&](int view) {
    const unsigned which = view % 2;
    const Slot& s = slot(view);
    begin_box(memory.windows + which * n.window_bytes(), data, {s.row, s.bin, 0, first + view},
              s.bin != nowhere, memory.arrived + 8 * which);
  };

  if (threadIdx.x == 0) make_box_barriers(memory.arrived, 2, 1);
  for (int view = 0; view < 3; ++view)
    prepare<chunk>(n, reader.ladder(last(view)), reader.bin(last(view)), slot(view));
  __syncthreads();
  if (warp < 2) join(slot(warp));
  __syncthreads();
  if (warp == 0 && views > 0) begin(0);
  Ladder ladder = reader.ladder(last(3));
  int bin = reader.bin(last(3));
  uint4 high = reader.weight(last(0), 0), low = reader.weight(last(0), 1);

  float sum[columns][per_lane] = {};
#pragma unroll 1
  for (int view = 0; view < views; ++view) {
    await_boxes(memory.arrived + 8 * (view % 2), view / 2);
    __syncthreads();
    if (warp == view % warps && view + 1 < views) begin(view + 1);
    if (warp == (view + 1) % warps) join(slot(view + 2));
    prepare<chunk>(n, ladder, bin, slot(view + 3));
    ladder = reader.ladder(last(view + 4)), bin = reader.bin(last(view + 4));
    const uint4 next_high = reader.weight(last(view + 1), 0), next_low = reader.weight(last(view + 1), 1);

    const Slot& here = slot(view);
    const TileWindow tile = here.tiles[warp];
    if (tile.rows > 0) {
      const unsigned from = memory.windows + static_cast<unsigned>(view % 2 * n.window_bytes() +
                                                                   (tile.bin - here.bin) * n.bin_bytes() +
                                                                   (tile.row - here.row) * 2);
      if (tile.narrow)
        make_profiles<true>(n, high, low, from, tile.rows, memory.profile);
      else
        make_profiles<false>(n, high, low, from, tile.rows, memory.profile);
      __syncwarp();
      for_width(tile.wide, [&](auto each) { integrate<each()>(n, here.rungs[warp], memory.profile, sum); });
      __syncwarp();
    }
    high = next_high, low = next_low;
  }
  write<per_lane>(n, out, sum);
}

// ---- batches

template <int per_lane>
void launch(const Problem& n, const TileShadows& shadows, const Boxes& data, const Target& out,
            cudaStream_t s) {
  const int shared = n.shared_bytes();
  allow_all_shared_memory(backward<per_lane>);
  const dim3 blocks = grid_of(ceil_div<Index>(n.nz, 32 * per_lane),
                              ceil_div(n.tiles.across, tiles_x) * ceil_div(n.tiles.down, tiles_y));
  backward<per_lane><<<blocks, warps * 32, shared, s>>>(n, shadows, data, out);
  after_launch();
}

/// Voxels of a lane, as many as fit; 0 if tiles do not fit.
int voxels_of(const Reach& reach, int wanted, Device device) {
  const int all = most_shared_memory(device), half = std::min(half_of_shared, all);
  if (!reach.fits_window() || !backward_layout(reach, 1).fits(half)) return 0;
  int per_lane = wanted ? wanted : 2;
  while (per_lane > 1 && !backward_layout(reach, per_lane).fits(wanted ? all : half)) --per_lane;
  return per_lane;
}

/// Some views, as windows of a block read them.
Boxes turn(const ConeView* views, const Problem& n, Image<const float> projections, const float* units,
           __half* turned, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const auto rows = int_of(rows_in_memory(n.rows));
  over_squares(projections.n0, projections.n2, rows, [&](dim3 squares) {
    turn_projections<<<squares, 256, 0, s>>>(views, projections, units, rows, turned);
  });
  const Index bin_bytes = 2 * rows, plane_bytes = n.bins * bin_bytes;
  return boxes_of(turned, {rows, n.bins, 2, int_of(projections.n0)},
                  {bin_bytes, plane_bytes, 2 * plane_bytes}, {n.window_rows, n.window_bins, 2, 1},
                  stream.device());
}

/// For each chunk of slices, the views that it meets.
auto met_on_device(const ConeViews& views, const Reach& reach, Range some, Index slices, Index chunk,
                   const Stream& stream) {
  return views.kept.use<DeviceTable<Range>>(
      stream, {some.first, slices, chunk}, [&](const KeptOnDevices::Streams& streams) {
        return DeviceTable<Range>(views_met(views, reach, some, slices, chunk), streams);
      });
}

}  // namespace

bool footprint_backward(const ConeViews& views, FootprintTuning tuning, float alpha,
                        Image<const float> projections, float beta, Image<float> volume, Stream& stream) {
  const cudaStream_t s = queue(stream);
  const Reach reach(views, {volume.n0, volume.n1, volume.n2}, projections.n1);
  const int per_lane = voxels_of(reach, tuning.voxels_a_thread, stream.device());
  if (per_lane == 0) return false;
  note_launch("footprint products backward, " + std::to_string(per_lane));
  const auto run = per_lane == 1 ? launch<1> : per_lane == 2 ? launch<2> : launch<3>;

  const BackwardBatches batches({volume.n0, volume.n1, volume.n2},
                                {projections.n0, projections.n1, projections.n2});
  Problem n{backward_layout(reach, per_lane),
            {},
            nullptr,
            volume.n0,
            int_of(projections.n1),
            int_of(projections.n2)};
  const auto list = views_on_device(views, stream);
  const Scratch<__half> turned(batches.views * batches.view_bytes / 2, s);
  const Scratch<float> units(2, s);
  const ShadowStore<Direction::backward> store(batches.views * batches.across * batches.lines, s);
  measure_unit(projections, units.data(), s);
  for (Index first = 0; first < projections.n0; first += batches.views) {
    const auto part = part_of(projections, first, batches.views, 0, projections.n1);
    const auto met = met_on_device(views, reach, {first, first + part.n0}, volume.n0, 32 * per_lane, stream);
    n.met = met->data();
    const Boxes windows = turn(list->data() + first, n, part, units.data(), turned.data(), stream);
    const Target out{volume,
                     in_groups(volume, edge),
                     {alpha * static_cast<float>(views.pitch) * weight_unit, first == 0 ? beta : 1},
                     units.data()};
    for (int line = 0; line < batches.down; line += batches.lines) {
      n.tiles = {int_of(batches.across), at_most(batches.lines, batches.down - line), line, volume.n2,
                 volume.n1};
      run(n, store.of(views, list->data() + first, int_of(part.n0), n.tiles), windows, out, s);
    }
  }
  return true;
}

}  // namespace tandem::kernels::cuda
