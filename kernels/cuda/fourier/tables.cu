#include "../../../core/spelled.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <span>

#include "../../../core/error.hpp"
#include "../../../core/parallel.hpp"
#include "lists.hpp"

namespace tandem::kernels::cuda {

namespace {

constexpr double pi = std::numbers::pi;

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

unsigned inverse_of(int divisor) { return ceil_div<std::uint64_t>(std::uint64_t{1} << 32, divisor); }

/// Radices of a line: the first one is 8 for real lines that come back, and the last one is 8 for real lines
/// that go forth, because frequencies meet their mirror images there.
std::vector<int> radices_of(int length, bool first_is_8, bool last_is_8) {
  const int last = last_is_8 ? 8 : length / (first_is_8 ? 8 : 1) % 16 == 0 ? 16 : length / 8 % 8 == 0 ? 8 : 4;
  std::vector<int> all = fewest_radices(length / last / (first_is_8 ? 8 : 1));
  if (first_is_8) all.insert(all.begin(), 8);
  all.push_back(last);
  return all;
}

/// A transform without its tables. `turns`: how many times as long as the line is the line of its roots.
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

std::vector<Place> order_of(const LineTransform& f) {
  std::vector<Place> order;
  for (int k = 0; k < f.length / f.last; ++k) {
    int rest = k / f.pass[0].radix, inside = 0;
    for (int p = 1; p < f.passes; ++p) {
      inside += rest % f.pass[p].radix * f.pass[p].step;
      rest /= f.pass[p].radix;
    }
    const int block = k % f.pass[0].radix;
    order.push_back({block * f.block + inside + inside / f.last, block * f.pass[0].step + inside});
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

LineTransform keep_transform(FourierTables& tables, const std::vector<int>& radices_in_order, int turns,
                             const KeptOnDevices::Streams& streams) {
  int length = 1;
  for (const int radix : radices_in_order) length *= radix;
  LineTransform f = transform_of(radices_in_order, length, turns);
  tables.roots.emplace_back(roots_of(turns * length), streams);
  tables.orders.emplace_back(order_of(f), streams);
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
  const double unit = std::exp2(std::ceil(std::log2(std::max(plan.cells_x, plan.cells_y))) - 23);
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
    const double last = plan.highest;
    end_x = std::max(end_x, last * std::abs(ray.step_x));
    end_y = std::max(end_y, last * std::abs(ray.step_y));
    radius = std::max(radius, last * std::hypot(ray.step_x, ray.step_y));
  }
  std::vector<int> reach;
  for (Index x = 0; x < plan.columns(); ++x) {
    const double inside = std::max<double>(0, x - window);
    const double y = std::min(end_y, std::sqrt(std::max(0.0, radius * radius - inside * inside)));
    const bool met = inside <= end_x;
    reach.push_back(met ? floor_int(std::min(std::ceil(y) + window, 0.5 * plan.cells_y)) : -1);
  }
  return reach;
}

FourierTables make_tables(const FourierPlan& plan, const KeptOnDevices::Streams& streams) {
  FourierTables tables;
  DevicePlan& there = tables.plan;

  there = {.bins = int_of(plan.bins),
           .nx = int_of(plan.nx),
           .ny = int_of(plan.ny),
           .length = int_of(plan.length),
           .samples = int_of(plan.samples()),
           .cells_x = int_of(plan.cells_x),
           .cells_y = int_of(plan.cells_y),
           .views = int_of(plan.rays.size())};
  while ((1 << there.view_bit) < there.samples) ++there.view_bit;
  require<DeviceError>(std::uint64_t{plan.rays.size()} << there.view_bit < ListedSample::conjugate,
                       "Fourier model: ", plan.rays.size(), " views of ", plan.bins,
                       " bins are too many for a GPU; give " + spelled("device") + " cpu or " +
                           spelled("model") + " pixel_driven");
  there.row_forth = keep_transform(tables, radices_of(there.length / 2, false, true), 2, streams);
  there.row_back = keep_transform(tables, radices_of(there.length / 2, true, false), 2, streams);
  there.pixels_forth = keep_transform(tables, radices_of(there.cells_x / 2, false, true), 2, streams);
  there.pixels_back = keep_transform(tables, radices_of(there.cells_x / 2, true, false), 2, streams);
  there.column = keep_transform(tables, radices_of(there.cells_y, false, false), 1, streams);
  const std::vector<int> reach = reach_of(plan);
  std::vector<char> turned;
  for (const Ray& ray : plan.rays) turned.push_back(ray.turned ? 1 : 0);
  tables.steps = DeviceTable<RayStep>(steps_of(plan), streams);
  tables.turned = DeviceTable<char>(turned, streams);
  tables.gain_x = DeviceTable<float>(plan.gain_x, streams),
  tables.gain_y = DeviceTable<float>(plan.gain_y, streams);
  tables.reach = DeviceTable<int>(reach, streams);
  there.steps = tables.steps.data(), there.turned = tables.turned.data();
  there.phases = {nullptr, there.length / 16};
  there.gain_x = tables.gain_x.data(), there.gain_y = tables.gain_y.data();
  there.reach = tables.reach.data();
  add_lists(plan, reach, tables, streams);
  return tables;
}

}  // namespace

DeviceTable<float2> phase_table(const std::vector<double>& t, const FourierSizes& sizes,
                                const KeptOnDevices::Streams& streams) {
  const Index sixteenth = sizes.length / 16, each = sixteenth + Phases::turns;
  const std::size_t count = t.size() * each;
  const auto table = std::make_unique_for_overwrite<float2[]>(count);  // all threads are first to touch it
  parallel_for(std::ssize(t), [&](Index i) {
    for (Index k = 0; k < each; ++k) {
      const std::complex<double> phase =
          row_phase(k < sixteenth ? k : (k - sixteenth) * sixteenth, sizes, t[i]);
      table[i * each + k] = {static_cast<float>(phase.real()), static_cast<float>(phase.imag())};
    }
  });
  return {std::span<const float2>(table.get(), count), streams};
}

KeptOnDevices::Use<FourierTables> tables_for(const FourierPlan& plan, const Stream& stream) {
  return plan.kept.use<FourierTables>(
      stream, [&](const KeptOnDevices::Streams& streams) { return make_tables(plan, streams); });
}

double table_bytes(const FourierSizes& n, Index views) {
  const double meet = (block_x - 1 + n.taps) * (block_y - 1 + n.taps) / (1.0 * block_x * block_y);
  const double samples = 1.0 * views * n.samples();
  const double blocks = 1.0 * n.columns() * n.cells_y / (block_x * block_y);
  return 1.2 * meet * samples * sizeof(ListedSample) + blocks * sizeof(BlockSamples) +
         1.0 * views * (n.length / 16 + Phases::turns) * sizeof(float2);
}

}  // namespace tandem::kernels::cuda
