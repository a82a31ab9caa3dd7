#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../kernels/parallel.hpp"
#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../operators/random.hpp"
#include "../pipeline/methods/method.hpp"
#include "../solvers/run.hpp"
#include "input.hpp"
#include "parallel_case.hpp"

namespace tandem::bench {

namespace {

constexpr int sampled = 400;  // random places at which the result is compared with double

const kernels::ParallelVariant& variant_of(const Execution& how, Device device) {
  return *find(kernels::parallel(device), how.variant);
}

/// Relative L2 error of B q at random pixels, and at corners, against the variant's coefficients in double.
double backward_error(const Case& c, const Execution& how, const Array& there_q, const Array& there_volume) {
  const auto coefficient = variant_of(how, there_q.space().device()).coefficient;
  const Array q = on_device(there_q, Device::cpu()), volume = on_device(there_volume, Device::cpu());
  const ParallelViews packed = pack(c.scan, c.grid, Model::pixel_driven);
  const Image<const float> in = image(ConstVectorView(q)), out = image(ConstVectorView(volume));
  Random random(1);
  double difference = 0, size = 0;
  for (int k = 0; k < sampled + 4; ++k) {
    const Index x = k < sampled ? floor_index(random.uniform() * out.n2) : k % 2 * (out.n2 - 1);
    const Index y = k < sampled ? floor_index(random.uniform() * out.n1) : (k - sampled) / 2 * (out.n1 - 1);
    const Index z = floor_index(random.uniform() * out.n0);
    double sum = 0;
    for (Index v = 0; v < in.n0; ++v) {
      const ParallelView& view = packed.views[v];
      const auto below = floor_index(view.origin + view.step_x * x + view.step_y * y);
      for (Index bin = below; bin <= below + 1; ++bin)
        if (0 <= bin && bin < in.n2) sum += coefficient(packed, v, x, y, bin) * in(v, z, bin);
    }
    difference += std::pow(sum - out(z, y, x), 2);
    size += sum * sum;
  }
  return std::sqrt(difference / size);
}

/// Relative L2 error of A x at random cells, and at the first and last cell of a row.
double forward_error(const Case& c, const Execution& how, const Array& there_volume, const Array& there_q) {
  const auto coefficient = variant_of(how, there_q.space().device()).coefficient;
  const Array q = on_device(there_q, Device::cpu()), volume = on_device(there_volume, Device::cpu());
  const ParallelViews packed = pack(c.scan, c.grid, Model::pixel_driven);
  const Image<const float> in = image(ConstVectorView(volume)), out = image(ConstVectorView(q));
  Random random(2);
  double difference = 0, size = 0;
  for (int k = 0; k < sampled / 4 + 2; ++k) {
    const Index v = floor_index(random.uniform() * out.n0);
    const Index bin = k < sampled / 4 ? floor_index(random.uniform() * out.n2) : k % 2 * (out.n2 - 1);
    const Index z = floor_index(random.uniform() * out.n1);
    double sum = 0;
    for (Index y = 0; y < in.n1; ++y)
      for (Index x = 0; x < in.n2; ++x) sum += coefficient(packed, v, x, y, bin) * in(z, y, x);
    difference += std::pow(sum - out(v, z, bin), 2);
    size += sum * sum;
  }
  return std::sqrt(difference / size);
}

/// The mismatch of the same pair on fewer pixels and views, so that random vectors are drawn quickly.
double mismatch_of(const Execution& how, const Case& c, Device device) {
  const Case small(std::min<Index>(c.grid.size[0], 256), std::min<Index>(views_of(c.scan), 256),
                   c.grid.size[2]);
  return adjointness(projector(small.scan, small.grid, Model::pixel_driven, device, how), 2).mismatch;
}

/// Adds the limit of the chip itself, if one is known.
void add_limit(Rows::value_type& row, const Execution& how, kernels::Direction direction, Device device) {
  const auto of_variant = variant_of(how, device).limit;
  if (!of_variant) return;
  const auto limit = of_variant(how.precision, direction, {gigaclocks(device), compute_capability(device)});
  if (!limit) return;
  row["limit"] = limit->what;
  row["limit_gups"] = limit->gups;
  row["share_of_limit"] = row["gups"].get<double>() / limit->gups;
}

using Body = std::function<void(const Case& c, const Execution& how, const LinearOperator& A)>;

/// Calls `body` for the projector of every number of slices in every execution.
void for_each_projector(const Axes& axes, Pairing pairing, const Body& body) {
  for (Index slices : axes.slices)
    for (const Execution& wanted : axes.executions) {
      const Case c(axes.size, axes.views, slices);
      const Model model = wanted.variant == "fourier" ? Model::fourier : Model::pixel_driven;
      const Execution how = resolved(wanted, c.scan, c.grid, model, axes.device, pairing);
      body(c, how, projector(c.scan, c.grid, model, axes.device, how));
    }
}

}  // namespace

std::vector<Device> first_devices(Device kind, Index count) {
  const auto gpus = int_of(devices().size()) - 1;
  std::vector<Device> all;
  for (int k = 0; k < count; ++k)
    all.push_back(kind.is_cuda() ? Device::cuda((kind.ordinal() + k) % gpus) : kind);
  return all;
}

double memory_for_tiles(const Axes& axes, const std::vector<Device>& on) {
  double least = axes.device_memory > 0 ? axes.device_memory : 1e18;
  if (axes.device_memory == 0 && axes.device.is_cuda())
    for (const Device d : on) least = std::min(least, 0.9 * free_memory(d));
  return least;
}

RunTimes times_of(const Axes& axes, const std::function<void()>& body) {
  const Stream& stream = default_stream(axes.device);
  const int repeat = axes.repeat;
  double cpu_ms = std::numeric_limits<double>::infinity();
  const auto run = [&] {
    const double start = seconds_now();
    const std::clock_t cpu_start = std::clock();
    body();
    stream.synchronize();
    cpu_ms = std::min(cpu_ms, 1e3 * (std::clock() - cpu_start) / CLOCKS_PER_SEC);
    return 1e3 * (seconds_now() - start);
  };
  constexpr double long_enough = 5e3;
  std::vector<double> ms;
  if (const double first = run(); first > long_enough) ms.push_back(first);
  while (std::ssize(ms) < repeat) ms.push_back(run());
  std::nth_element(ms.begin(), ms.begin() + repeat / 2, ms.end());
  return {ms[repeat / 2], cpu_ms};
}

double median_ms(const Axes& axes, const std::function<void()>& body) { return times_of(axes, body).ms; }

Rows parallel(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  Stream& stream = default_stream(axes.device);
  for_each_projector(axes, Pairing::any, [&](const Case& c, const Execution& how, const LinearOperator& A) {
    const Index slices = c.scan.detector.rows;
    on_line(words(name_of(how) + " back", slices));
    const double mu = mismatch_of(how, c, axes.device);
    Array q = input(A.range()), x(A.domain());
    const double back = median_ms(axes, [&] { A.apply_adjoint(1, q, 0, x, stream); });
    rows.push_back(line(c, "back", back, c.updates(), how));
    add_limit(rows.back(), how, kernels::Direction::backward, axes.device);
    rows.back()["relative_error"] = backward_error(c, how, q, x);
    rows.back()["mu"] = mu;
    on_line(words(name_of(how) + " forward", slices));
    x = input(A.domain());
    const double forward = median_ms(axes, [&] { A.apply(1, x, 0, q, stream); });
    rows.push_back(line(c, "forward", forward, c.updates(), how));
    add_limit(rows.back(), how, kernels::Direction::forward, axes.device);
    rows.back()["relative_error"] = forward_error(c, how, x, q);
    rows.back()["mu"] = mu;
  });
  return rows;
}

Rows filter(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  for (Index slices : axes.slices) {
    const Case c(axes.size, axes.views, slices);
    const LinearOperator F = ramp_filter(c.scan, {}, axes.device);
    on_line(words("ramp filter", slices));
    const Array q = input(F.domain());
    Array out(F.range());
    const double ms = median_ms(axes, [&] { F.apply(1, q, 0, out, default_stream(axes.device)); });
    rows.push_back(line(c, "filter", ms, 0));
    rows.back()["gigabytes_a_second"] = 8.0 * q.size() / ms * 1e-6;
    rows.back().erase("gups");
  }
  return rows;
}

Rows fbp(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  Stream& stream = default_stream(axes.device);
  for_each_projector(axes, Pairing::any, [&](const Case& c, const Execution& how, const LinearOperator& A) {
    const LinearOperator F = ramp_filter(c.scan, {}, axes.device), B = backprojector(A, c.scan, c.grid);
    on_line(words(name_of(how) + " FBP", c.scan.detector.rows));
    const Array q = input(A.range());
    Array filtered(A.range()), x(A.domain());
    const double filter_ms = median_ms(axes, [&] { F.apply(1, q, 0, filtered, stream); });
    const double ms = median_ms(axes, [&] {
      F.apply(1, q, 0, filtered, stream);
      B.apply(1, filtered, 0, x, stream);
    });
    rows.push_back(line(c, "fbp", ms, c.updates(), how));
    add_limit(rows.back(), how, kernels::Direction::backward, axes.device);
    rows.back()["filter_ms"] = filter_ms;
    rows.back()["filter_share"] = filter_ms / ms;
  });
  return rows;
}

Rows solvers(const Axes& axes, const OnLine& on_line) {
  if (axes.cone) return cone_solvers(axes, on_line);
  Rows rows = Rows::array();
  Stream& stream = default_stream(axes.device);
  for_each_projector(
      axes, Pairing::matched, [&](const Case& c, const Execution& how, const LinearOperator& A) {
        const Index slices = c.scan.detector.rows;
        const Array b = input(A.range());
        const ActiveBlocks active(slices, true);
        Array x(A.domain()), q(A.range());
        on_line(words(name_of(how) + " kernels", slices));
        const double kernels = median_ms(axes, [&] {
          A.apply(1, x, 0, q, stream);
          A.apply_adjoint(1, q, 0, x, stream);
        });
        for (const auto* method : methods_to_time(axes.methods)) {
          const std::string name(method->name);
          on_line(words(name_of(how) + " " + name, slices));
          auto solver = method->solver({A, data_for(*method, b)}, Array(A.domain()), {});
          const double ms = median_ms(axes, [&] { solver.step(active); });
          rows.push_back(line(c, name + " step", ms, method->kind.cost.step.together() * c.updates(), how));
          rows.back()["kernels_ms"] = kernels;
        }
      });
  return rows;
}

}  // namespace tandem::bench
