#include "lists.hpp"

#include <algorithm>
#include <cstdint>

#include "../../../core/host_device.hpp"
#include "../common/sent.cuh"

namespace tandem::kernels::cuda {

namespace {

std::size_t at(Index i) { return i; }

/// The samples of a run that meet cells [x, x + block_x) x [y, y + block_y): k = first .. last - 1.
struct Met {
  int first, last;
};

__device__ inline void narrow(double step, double start, double low, double high, Met& met) {
  constexpr double little = 1e-7;  // cells or samples
  if (fabs(step) < 1e-9) {
    if (start < low - little || start > high + little) met.last = met.first;
    return;
  }
  const double a = (low - start) / step, b = (high - start) / step;
  met.first = max(met.first, ceil_int(fmax(fmin(a, b), -1e9) - little));
  met.last = min(met.last, floor_int(fmin(fmax(a, b), 1e9) + little) + 1);
}

struct ListTask {
  const FrequencyTile* tiles;
  int count;
  const Run* runs;
  const double2* steps;
  double reach;  ///< half the taps
  int view_bit;
};

/// Blocks of a tile, 4 across and 4 down, in such an order that neighbours come soon after each other.
constexpr int blocks_a_tile = 16;
static_assert(frequency_tile == 4 * block_x && frequency_tile == 4 * block_y, "a thread a block");
TANDEM_HOST_DEVICE int block_at_x(const FrequencyTile& tile, int i) {
  return tile.x + ((i & 1) | (i >> 1 & 2)) * block_x;
}
TANDEM_HOST_DEVICE int block_at_y(const FrequencyTile& tile, int i) {
  return tile.y + ((i >> 1 & 1) | (i >> 2 & 2)) * block_y;
}

/// A thread has a block: how many samples meet it, or which.
template <bool fill>
__global__ void list_samples(ListTask task, const Index* starts, int* counts, ListedSample* list) {
  const int block = blockIdx.x * blockDim.x + threadIdx.x;
  if (block >= task.count * blocks_a_tile) return;
  const FrequencyTile t = task.tiles[block / blocks_a_tile];
  const int x = block_at_x(t, block % blocks_a_tile), y = block_at_y(t, block % blocks_a_tile);
  ListedSample* next = nullptr;
  if constexpr (fill) next = list + starts[block];
  int count = 0;
  for (std::size_t r = t.first_run; r < t.last_run; ++r) {
    const Run run = task.runs[r];
    const double2 step = task.steps[run.view];
    Met met{run.first, run.last};
    narrow(run.sign * step.x, run.shift_x, x - task.reach, x + block_x - 1 + task.reach, met);
    narrow(run.sign * step.y, run.shift_y, y - task.reach, y + block_y - 1 + task.reach, met);
    count += max(0, met.last - met.first);
    if constexpr (fill)
      for (int k = met.first; k < met.last; ++k)
        *next++ = {(run.sign < 0 ? ListedSample::conjugate : 0u) | run.view << task.view_bit | k};
  }
  if constexpr (!fill) counts[block] = count;
}

constexpr int samples_a_part = 1024;

/// Whether some cell of a block is one that samples can meet.
bool is_met(const FourierPlan& plan, const std::vector<int>& reach, int x, int y) {
  for (int i = x; i < std::min<Index>(x + block_x, plan.columns()); ++i)
    for (int j = y; j < std::min<Index>(y + block_y, plan.cells_y / 2); ++j)
      if (std::abs(j) <= reach[at(i)]) return true;
  return false;
}

/// Tiles that are near each other in the plane are near each other in this order.
std::uint64_t on_curve(const FourierPlan& plan, const FrequencyTile& tile) {
  const std::uint64_t x = tile.x / frequency_tile, y = (tile.y + plan.cells_y / 2) / frequency_tile;
  std::uint64_t place = 0;
  for (int bit = 0; bit < 16; ++bit) place |= (x >> bit & 1) << (2 * bit) | (y >> bit & 1) << (2 * bit + 1);
  return place;
}

/// Blocks with many samples are split and come first.
void add_blocks(const FourierPlan& plan, const std::vector<FrequencyTile>& tiles,
                const std::vector<int>& counts, const std::vector<Index>& starts,
                const std::vector<int>& reach, FourierTables& tables, const KeptOnDevices::Streams& streams) {
  std::vector<BlockSamples> many, few;
  std::vector<SplitBlock> splits;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const FrequencyTile& tile = tiles[i / blocks_a_tile];
    const int lane = static_cast<int>(i % blocks_a_tile), count = counts[i];
    const int x = block_at_x(tile, lane), y = block_at_y(tile, lane);
    if (!is_met(plan, reach, x, y)) continue;
    if (count <= samples_a_part) {
      few.push_back({starts[i], count, x, y, -1});
      continue;
    }
    const int parts = ceil_div(count, samples_a_part), each = ceil_div(ceil_div(count, parts), 32) * 32;
    splits.push_back({x, y, tables.parts, parts});
    for (int p = 0; p < parts; ++p)
      many.push_back(
          {starts[i] + p * each, std::max(0, std::min(each, count - p * each)), x, y, tables.parts++});
  }
  many.insert(many.end(), few.begin(), few.end());
  tables.blocks = DeviceTable<BlockSamples>(many, streams);
  tables.splits = DeviceTable<SplitBlock>(splits, streams);
}

}  // namespace

void add_lists(const FourierPlan& plan, const std::vector<int>& reach, FourierTables& tables,
               const KeptOnDevices::Streams& streams) {
  const Stream& stream = streams.coming;
  const cudaStream_t s = queue(stream);
  std::vector<FrequencyTile> tiles = plan.tiles;
  std::stable_sort(tiles.begin(), tiles.end(), [&](const FrequencyTile& a, const FrequencyTile& b) {
    return on_curve(plan, a) < on_curve(plan, b);
  });
  std::vector<double2> steps;
  for (const Ray& ray : plan.rays) steps.push_back({ray.step_x, ray.step_y});
  const Sent<FrequencyTile> tiles_there(tiles, stream);
  const Sent<Run> runs(plan.runs, stream);
  const Sent<double2> steps_there(steps, stream);
  const ListTask task{tiles_there.data(), int_of(tiles.size()),           runs.data(),
                      steps_there.data(), 0.5 * plan.taps + window_shift, tables.plan.view_bit};
  const std::size_t blocks = tiles.size() * blocks_a_tile;
  const Scratch<int> counts_there(blocks, s);
  const dim3 launch_blocks = grid_of(ceil_div<Index>(blocks, 128));
  list_samples<false><<<launch_blocks, 128, 0, s>>>(task, nullptr, counts_there.data(), nullptr);
  after_launch();
  std::vector<int> counts(blocks);
  bring(std::span(counts), counts_there, stream);
  std::vector<Index> starts;
  Index total = 0;
  for (const int count : counts) starts.push_back(total), total += count;
  const Sent<Index> starts_there(starts, stream);
  tables.samples = DeviceTable<ListedSample>(at(total), streams);
  list_samples<true><<<launch_blocks, 128, 0, s>>>(task, starts_there.data(), nullptr, tables.samples.data());
  after_launch();
  add_blocks(plan, tiles, counts, starts, reach, tables, streams);
}

}  // namespace tandem::kernels::cuda
