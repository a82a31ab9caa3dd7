#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "../../../core/error.hpp"
#include "../../../core/host_device.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr double pi = std::numbers::pi;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// ---- transforms

constexpr int radices[] = {16, 12, 10, 8, 6, 5, 4, 3, 2};

/// The fewest radices whose product is `rest`, and of those the ones that are most alike.
std::vector<int> fewest_radices(int rest) {
  if (rest == 1) return {};
  std::vector<int> best;
  for (const int radix : radices) {
    if (rest % radix != 0) continue;
    std::vector<int> some = fewest_radices(rest / radix);
    some.push_back(radix);
    const auto worse = [](const std::vector<int>& a, const std::vector<int>& b) {
      return a.size() != b.size()
                 ? a.size() > b.size()
                 : *std::max_element(a.begin(), a.end()) > *std::max_element(b.begin(), b.end());
    };
    if (best.empty() || worse(best, some)) best = std::move(some);
  }
  return best;
}

unsigned inverse_of(int divisor) {
  return static_cast<unsigned>(((std::uint64_t{1} << 32) + static_cast<unsigned>(divisor) - 1) /
                               static_cast<unsigned>(divisor));
}

/// Radices of a line: the first one is 8 for real lines that come back, and the last one is 8 for real lines
/// that go forth, because frequencies meet their mirror images there.
std::vector<int> radices_of(int length, bool first_is_8, bool last_is_8) {
  const int last = last_is_8 ? 8 : length / (first_is_8 ? 8 : 1) % 16 == 0 ? 16 : length / 8 % 8 == 0 ? 8 : 4;
  std::vector<int> all = fewest_radices(length / last / (first_is_8 ? 8 : 1));
  if (first_is_8) all.insert(all.begin(), 8);
  all.push_back(last);
  return all;
}

/// Without its tables. `turns`: how many times as long the line is that the roots are of.
LineTransform transform_of(const std::vector<int>& radices_in_order, int length, int turns) {
  LineTransform f{};
  f.length = length, f.last = radices_in_order.back();
  while (1 << f.log2_last < f.last) ++f.log2_last;
  int block = length;
  for (std::size_t p = 0; p + 1 < radices_in_order.size(); ++p) {
    const int radix = radices_in_order[p], step = block / radix;
    f.pass[f.passes++] = {radix, step, length / radix, inverse_of(step), length / block * turns};
    block = step;
  }
  // odd, so that neighbouring frequencies lie in different banks
  f.block = (f.pass[0].step + f.pass[0].step / f.last) | 1;
  return f;
}

std::vector<int> order_of(const LineTransform& f) {
  std::vector<int> order;
  for (int k = 0; k < f.length / f.last; ++k) {
    int rest = k / f.pass[0].radix, inside = 0;
    for (int p = 1; p < f.passes; ++p) {
      inside += rest % f.pass[p].radix * f.pass[p].step;
      rest /= f.pass[p].radix;
    }
    order.push_back(k % f.pass[0].radix * f.block + inside + inside / f.last);
  }
  return order;
}

std::vector<float2> roots_of(int count) {
  std::vector<float2> roots;
  for (int k = 0; k < count; ++k) {
    const double angle = 2 * pi * k / count;
    roots.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(-std::sin(angle))});
  }
  return roots;
}

LineTransform keep_transform(FourierTables& tables, const std::vector<int>& radices_in_order, int turns) {
  int length = 1;
  for (const int radix : radices_in_order) length *= radix;
  LineTransform f = transform_of(radices_in_order, length, turns);
  tables.roots.emplace_back(roots_of(turns * length));
  tables.orders.emplace_back(order_of(f));
  f.roots = tables.roots.back().data(), f.order = tables.orders.back().data();
  return f;
}

// ---- rays and cells

/// A multiple of `unit` and the rest.
std::pair<float, float> split(double step, double unit) {
  const double high = std::round(step / unit) * unit;
  return {static_cast<float>(high), static_cast<float>(step - high)};
}

std::vector<RayStep> steps_of(const FourierPlan& plan) {
  // so that sample times high part is below 2^24 units anywhere in the grid
  const double unit =
      std::exp2(std::ceil(std::log2(static_cast<double>(std::max(plan.cells_x, plan.cells_y)))) - 23);
  std::vector<RayStep> steps;
  for (const Ray& ray : plan.rays) {
    const auto [x, x_rest] = split(ray.step_x, unit);
    const auto [y, y_rest] = split(ray.step_y, unit);
    steps.push_back({x, x_rest, y, y_rest});
  }
  return steps;
}

/// Rays end within a circle; windows reach further.
std::vector<int> reach_of(const FourierPlan& plan) {
  constexpr int window = widest_window + 4;  // and of neighbouring samples that are summed together
  double end_x = 0, end_y = 0, radius = 0;
  for (const Ray& ray : plan.rays) {
    const auto last = static_cast<double>(plan.highest);
    end_x = std::max(end_x, last * std::abs(ray.step_x));
    end_y = std::max(end_y, last * std::abs(ray.step_y));
    radius = std::max(radius, last * std::hypot(ray.step_x, ray.step_y));
  }
  std::vector<int> reach;
  for (Index x = 0; x < plan.columns(); ++x) {
    const double inside = std::max(0.0, static_cast<double>(x) - window);
    const double y = std::min(end_y, std::sqrt(std::max(0.0, radius * radius - inside * inside)));
    const bool met = inside <= end_x;
    reach.push_back(
        met ? static_cast<int>(std::min(std::ceil(y) + window, 0.5 * static_cast<double>(plan.cells_y)))
            : -1);
  }
  return reach;
}

// ---- lists of samples

/// Which samples of a run meet cells [x, x + block_x) x [y, y + block_y): k = first .. last - 1.
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
  met.first = max(met.first, static_cast<int>(ceil(fmax(fmin(a, b), -1e9) - little)));
  met.last = min(met.last, static_cast<int>(floor(fmin(fmax(a, b), 1e9) + little)) + 1);
}

struct ListTask {
  const FrequencyTile* tiles;
  int count;
  const Run* runs;
  const double2* steps;
  double reach;  ///< half the taps
  int view_bit;
};

/// Blocks of a tile, 4 across and 8 down, in such an order that neighbours come soon after each other.
constexpr int blocks_a_tile = 32;
static_assert(frequency_tile == 4 * block_x && frequency_tile == 8 * block_y, "a lane a block");
TANDEM_HOST_DEVICE int block_at_x(const FrequencyTile& tile, int i) {
  return tile.x + ((i & 1) | (i >> 2 & 2)) * block_x;
}
TANDEM_HOST_DEVICE int block_at_y(const FrequencyTile& tile, int i) {
  return tile.y + ((i >> 1 & 3) | (i >> 2 & 4)) * block_y;
}

/// A warp has a tile, and a lane a block: how many samples meet it, or which.
template <bool fill>
__global__ void list_samples(ListTask task, const Index* starts, int* counts, ListedSample* list) {
  const int tile = static_cast<int>((blockIdx.x * blockDim.x + threadIdx.x) / 32), lane = threadIdx.x % 32;
  if (tile >= task.count) return;
  const FrequencyTile t = task.tiles[tile];
  const int x = block_at_x(t, lane), y = block_at_y(t, lane);
  ListedSample* next = nullptr;
  if constexpr (fill) next = list + starts[tile * blocks_a_tile + lane];
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
        *next++ = {(run.sign < 0 ? ListedSample::conjugate : 0u) |
                   static_cast<unsigned>(run.view) << task.view_bit | static_cast<unsigned>(k)};
  }
  if constexpr (!fill) counts[tile * blocks_a_tile + lane] = count;
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
  const auto x = static_cast<unsigned>(tile.x / frequency_tile),
             y = static_cast<unsigned>((tile.y + static_cast<int>(plan.cells_y / 2)) / frequency_tile);
  std::uint64_t place = 0;
  for (int bit = 0; bit < 16; ++bit)
    place |= static_cast<std::uint64_t>(x >> bit & 1) << (2 * bit) | static_cast<std::uint64_t>(y >> bit & 1)
                                                                         << (2 * bit + 1);
  return place;
}

/// Blocks with many samples are split and come first.
void add_blocks(const FourierPlan& plan, const std::vector<FrequencyTile>& tiles,
                const std::vector<int>& counts, const std::vector<Index>& starts,
                const std::vector<int>& reach, FourierTables& tables) {
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
  tables.blocks = DeviceTable<BlockSamples>(many);
  tables.splits = DeviceTable<SplitBlock>(splits);
}

void add_lists(const FourierPlan& plan, const std::vector<int>& reach, FourierTables& tables) {
  std::vector<FrequencyTile> tiles = plan.tiles;
  std::stable_sort(tiles.begin(), tiles.end(), [&](const FrequencyTile& a, const FrequencyTile& b) {
    return on_curve(plan, a) < on_curve(plan, b);
  });
  std::vector<double2> steps;
  for (const Ray& ray : plan.rays) steps.push_back({ray.step_x, ray.step_y});
  const DeviceTable<FrequencyTile> tiles_there(tiles);
  const DeviceTable<Run> runs(plan.runs);
  const DeviceTable<double2> steps_there(steps);
  const ListTask task{tiles_there.data(), static_cast<int>(tiles.size()), runs.data(),
                      steps_there.data(), 0.5 * plan.taps + window_shift, tables.plan.view_bit};
  const std::size_t blocks = tiles.size() * blocks_a_tile;
  const DeviceTable<int> counts_there(blocks);
  const auto launch_blocks = static_cast<unsigned>(ceil_div<std::size_t>(blocks, 128));
  list_samples<false><<<launch_blocks, 128>>>(task, nullptr, counts_there.data(), nullptr);
  after_launch();
  std::vector<int> counts(blocks);
  check(cudaMemcpy(counts.data(), counts_there.data(), blocks * sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<Index> starts;
  Index total = 0;
  for (const int count : counts) starts.push_back(total), total += count;
  const DeviceTable<Index> starts_there(starts);
  tables.samples = DeviceTable<ListedSample>(at(total));
  list_samples<true><<<launch_blocks, 128>>>(task, starts_there.data(), nullptr, tables.samples.data());
  after_launch();
  check(cudaDeviceSynchronize());
  add_blocks(plan, tiles, counts, starts, reach, tables);
}

std::shared_ptr<const FourierTables> make_tables(const FourierPlan& plan, Device device) {
  check(cudaSetDevice(device.ordinal()));
  auto tables = std::make_shared<FourierTables>();
  DevicePlan& there = tables->plan;
  const auto number = [](Index n) { return static_cast<int>(n); };
  there = {.bins = number(plan.bins),
           .nx = number(plan.nx),
           .ny = number(plan.ny),
           .length = number(plan.length),
           .samples = number(plan.samples()),
           .cells_x = number(plan.cells_x),
           .cells_y = number(plan.cells_y),
           .views = static_cast<int>(plan.rays.size())};
  while ((1 << there.view_bit) < there.samples) ++there.view_bit;
  require<DeviceError>(std::uint64_t{plan.rays.size()} << there.view_bit < ListedSample::conjugate,
                       "Fourier model: ", plan.rays.size(), " views of ", plan.bins,
                       " bins are too many for a GPU; give --device cpu or --model pixel_driven");
  there.row_forth = keep_transform(*tables, radices_of(there.length / 2, false, true), 2);
  there.row_back = keep_transform(*tables, radices_of(there.length / 2, true, false), 2);
  there.pixels_forth = keep_transform(*tables, radices_of(there.cells_x / 2, false, true), 2);
  there.pixels_back = keep_transform(*tables, radices_of(there.cells_x / 2, true, false), 2);
  there.column = keep_transform(*tables, radices_of(there.cells_y, false, false), 1);
  const std::vector<int> reach = reach_of(plan);
  std::vector<double> centres;
  std::vector<char> turned;
  for (const Ray& ray : plan.rays) centres.push_back(ray.centre), turned.push_back(ray.turned ? 1 : 0);
  tables->steps = DeviceTable<RayStep>(steps_of(plan));
  tables->turned = DeviceTable<char>(turned);
  tables->phases = DeviceTable<float2>(phase_table(centres, plan));
  tables->gain_x = DeviceTable<float>(plan.gain_x), tables->gain_y = DeviceTable<float>(plan.gain_y);
  tables->reach = DeviceTable<int>(reach);
  there.steps = tables->steps.data(), there.turned = tables->turned.data();
  there.phases = {tables->phases.data(), there.length / 16};
  there.gain_x = tables->gain_x.data(), there.gain_y = tables->gain_y.data();
  there.reach = tables->reach.data();
  add_lists(plan, reach, *tables);
  return tables;
}

}  // namespace

std::vector<float2> phase_table(const std::vector<double>& t, const FourierSizes& sizes) {
  const Index sixteenth = sizes.length / 16;
  std::vector<float2> table;
  for (const double place : t) {
    const auto add = [&](Index k) {
      const std::complex<double> phase = row_phase(k, sizes, place);
      table.push_back({static_cast<float>(phase.real()), static_cast<float>(phase.imag())});
    };
    for (Index k = 0; k < sixteenth; ++k) add(k);
    for (Index j = 0; j < Phases::turns; ++j) add(j * sixteenth);
  }
  return table;
}

const FourierTables& tables_for(const FourierPlan& plan, Device device) {
  return *static_cast<const FourierTables*>(
      plan.on_devices->get(device, [&] { return make_tables(plan, device); }));
}

double table_bytes(const FourierSizes& n, Index views) {
  const double meet =
      (block_x - 1 + n.taps) * (block_y - 1 + n.taps) / static_cast<double>(block_x * block_y);
  const double samples = static_cast<double>(views) * static_cast<double>(n.samples());
  const double blocks =
      static_cast<double>(n.columns()) * static_cast<double>(n.cells_y) / (block_x * block_y);
  return 1.2 * meet * samples * sizeof(ListedSample) + blocks * sizeof(BlockSamples) +
         static_cast<double>(views * (n.length / 16 + Phases::turns)) * sizeof(float2);
}

}  // namespace tandem::kernels::cuda
