// The cone-beam pair: on the device, and between host and devices.

#include <cmath>
#include <optional>

#include "../core/parallel.hpp"
#include "../core/rounding.hpp"
#include "../geometry/phantom.hpp"
#include "../kernels/cone.hpp"
#include "../kernels/hierarchical.hpp"
#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/hierarchical.hpp"
#include "../operators/projector.hpp"
#include "../operators/tiled_projector.hpp"
#include "cone_case.hpp"
#include "footprint_error.hpp"
#include "harness.hpp"
#include "hierarchical_error.hpp"
#include "input.hpp"

namespace tandem::bench {

namespace {

const Device cpu = Device::cpu();

/// The line of a table for one application, with its CPU time where the CPU does the work.
Rows::value_type timed_line(const Axes& axes, const ConeCase& c, const char* direction,
                            const std::function<void()>& body) {
  const RunTimes took = times_of(axes, body);
  Rows::value_type row = footprint_line(c, direction, took.ms);
  if (axes.device == cpu) row["cpu_ms"] = took.cpu_ms;
  return row;
}

// ---- a body of two ellipsoids in the unit half-cube

/// Relative L2 difference of its projection to the exact one. Voxels are averaged over 3^3 points, and cells
/// over 3 x 3 rays.
double analytic_error(const Axes& axes, const ConeCase& c, Model model) {
  const double half = 0.5 * c.grid.size[0];
  const Phantom body =
      scaled({{{1, {0.7, 0.6, 0.6}, {}, 0}, {0.5, {0.2, 0.2, 0.2}, {0.3, 0.1, 0.1}, 0}}}, half, 1);
  Array x(cone_volume_space(c.grid)), exact(projection_space(c.scan));
  const Index n = c.grid.size[0];
  parallel_for(n * n, [&](Index line) {
    const Index iy = line % n, iz = line / n;
    for (Index ix = 0; ix < n; ++ix) {
      double sum = 0;
      for (int k = 0; k < 27; ++k) {
        const auto third = [](int j) { return (j % 3 - 1) / 3.0; };
        sum +=
            value_at(body, c.grid.x(ix + third(k)), c.grid.y(iy + third(k / 3)), c.grid.z(iz + third(k / 9)));
      }
      x.data()[line * n + ix] = static_cast<float>(sum / 27);
    }
  });
  project(body, c.scan, {0, c.scan.detector.rows}, std::span(exact.data(), exact.size()), 3);
  const LinearOperator A = projector(c.scan, c.grid, model, axes.device);
  const Array seen = on_device(A * on_device(std::move(x), axes.device), cpu);
  double difference = 0, size = 0;
  for (Index k = 0; k < seen.size(); ++k) {
    difference += std::pow(double{seen.data()[k]} - exact.data()[k], 2);
    size += std::pow(exact.data()[k], 2);
  }
  return std::sqrt(difference / size);
}

// ---- host to host

/// The speed of a bus, in bytes per millisecond, from and to pinned memory.
struct Bus {
  double up, down;
};

Bus bus_of(const Axes& axes) {
  Array here(Space({1, 1, Index{1} << 28})), there(here.space().on(axes.device));
  const Pinned pinned(here);
  Stream& stream = default_stream(axes.device);
  const double bytes = double{sizeof(float)} * here.size();
  return {bytes / median_ms(axes, [&] { copy(here, there, stream); }),
          bytes / median_ms(axes, [&] { copy(there, here, stream); })};
}

/// The milliseconds of one application, with `in` and its result on one device; empty if they do not fit.
std::optional<double> kernels_ms(const Axes& axes, const ConeCase& c, const Array& in, bool back) {
  const LinearOperator A = projector(c.scan, c.grid, Model::separable_footprint, axes.device),
                       B = back ? adjoint(A) : A;
  const WorkingMemory beside =
      working_memory(Model::separable_footprint, A.domain().shape(), A.range().shape(), axes.device);
  const double needed = double{sizeof(float)} * (A.domain().size() + A.range().size()) +
                        (back ? beside.backward : beside.forward);
  if (axes.device.is_cuda() && needed > 0.95 * free_memory(axes.device)) return std::nullopt;
  Stream& stream = default_stream(axes.device);
  double ms = 0;
  {
    const Array there = on_device(in, axes.device);
    Array out(B.range());
    ms = median_ms(axes, [&] { B.apply(1, there, 0, out, stream); });
  }
  stream.synchronize();  // so that their memory is free for the tiles
  return ms;
}

/// The least milliseconds of transfers of one device, since each output needs all of the input on the device.
double transfer_ms(const Bus& bus, const Array& in, const Array& out, std::size_t outputs, Index devices) {
  const auto bytes = [](const Array& a) { return double{sizeof(float)} * a.size(); };
  const double n = devices, passes = std::ceil(outputs / n);
  return std::max(passes * bytes(in) / bus.up, bytes(out) / n / bus.down);
}

void add_streamed(const Axes& axes, const OnLine& on_line, const ConeCase& c, bool back, Rows& rows) {
  const Space volume = cone_volume_space(c.grid), projections = projection_space(c.scan);
  const Array in = input(back ? projections : volume);
  Array out(back ? volume : projections);
  const ConeViews views = pack(c.scan, c.grid);
  const Pinned pinned[] = {Pinned(in), Pinned(out)};
  on_line("resident");
  const std::optional<double> kernels = kernels_ms(axes, c, in, back);
  std::optional<Bus> bus;
  if (axes.device.is_cuda()) bus = bus_of(axes);
  for (const Index count : axes.devices)
    for (const Index streams : axes.streams) {
      const std::vector<Device> on = first_devices(axes.device, count);
      const double memory = memory_for_tiles(axes, on);
      const Tilings tiles = plan_tiles(c.scan, c.grid, on, memory);
      const LinearOperator A = tiled_projector(c.scan, c.grid, on, memory, {.streams = int_of(streams)}),
                           B = back ? adjoint(A) : A;
      on_line(std::to_string(count) + " devices, " + std::to_string(streams) + " streams");
      const double ms = median_ms(axes, [&] { B.apply(1, in, 0, out, default_stream(cpu)); });
      rows.push_back(footprint_line(c, back ? "back, streamed" : "forward, streamed", ms));
      Rows::value_type& row = rows.back();
      row["devices"] = count;
      row["streams"] = streams;
      row["strips"] = (back ? tiles.backward : tiles.forward).strips.size();
      row["blocks"] = (back ? tiles.backward : tiles.forward).views.size();
      row["relative_error"] =
          back ? footprint_backward_error(views, in, out) : footprint_forward_error(views, in, out);
      if (!bus) continue;
      const double transfer =
          transfer_ms(*bus, in, out, back ? tiles.backward.strips.size() : tiles.forward.views.size(), count);
      row["transfer_ms"] = transfer;
      if (!kernels) continue;
      row["kernels_ms"] = *kernels / count;
      row["over"] = ms / std::max(transfer, *kernels / count);
    }
}

/// Georgin et al. 2019, table 2: streams and GPUs.
Rows streamed_cone(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  const ConeCase c(axes.size, axes.views);
  for (const bool back : {true, false}) add_streamed(axes, on_line, c, back, rows);
  return rows;
}

// ---- on the device

/// The times of both directions of a model, with all tuning numbers.
class ModelTimes {
 public:
  ModelTimes(const Axes& axes, const OnLine& on_line)
      : axes_(axes),
        on_line_(on_line),
        case_(axes.size, axes.views),
        small_(std::min<Index>(axes.size, 256), std::min<Index>(axes.views, 256)) {}

  void back(Model model, FootprintTuning tuning, const LinearOperator& pair) {
    on_line_(name(model) + ", back");
    const LinearOperator A = made(case_, model, tuning);
    const Array q = input(A.range());
    Array x(A.domain());
    Stream& stream = default_stream(axes_.device);
    rows.push_back(timed_line(axes_, case_, "back", [&] { A.apply_adjoint(1, q, 0, x, stream); }));
    rows.back()["voxels_a_thread"] = tuning.voxels_a_thread;
    if (model == Model::separable_footprint)
      rows.back()["relative_error"] =
          footprint_backward_error(pack(case_.scan, case_.grid), on_device(q, cpu), on_device(x, cpu));
    if (model == Model::hierarchical)
      rows.back()["relative_error"] = hierarchical_error(case_.scan, case_.grid, axes_.device);
    add_pair(model, pair);
  }

  void forward(Model model, FootprintTuning tuning, const LinearOperator& pair) {
    on_line_(name(model) + ", forward");
    const LinearOperator A = made(case_, model, tuning);
    const Array x = input(A.domain());
    Array q(A.range());
    Stream& stream = default_stream(axes_.device);
    rows.push_back(timed_line(axes_, case_, "forward", [&] { A.apply(1, x, 0, q, stream); }));
    rows.back()["rows_a_block"] = tuning.rows_a_block;
    if (model == Model::separable_footprint)
      rows.back()["relative_error"] =
          footprint_forward_error(pack(case_.scan, case_.grid), on_device(x, cpu), on_device(q, cpu));
    rows.back()["analytic_error"] = analytic_error(axes_, small_, model);
    add_pair(model, pair);
  }

  /// Filter and weighted back-projection, if a GPU has room for the views before and behind the filter.
  void fdk(Model model) {
    const LinearOperator F = ramp_filter(case_.scan, {}, axes_.device),
                         B = fdk_backprojector(case_.scan, case_.grid, model, axes_.device);
    const WorkingMemory beside =
        model == Model::hierarchical
            ? hierarchical_memory(filtered_scan(case_.scan), case_.grid, axes_.device, {},
                                  AlongRows::as_footprints)
            : working_memory(model, B.range().shape(), B.domain().shape(), axes_.device);
    const double needed =
        double{sizeof(float)} * (F.domain().size() + F.range().size() + B.range().size()) + beside.backward;
    if (axes_.device.is_cuda() && needed > 0.95 * free_memory(axes_.device)) return;
    on_line_(name(model) + ", FDK");
    const Array y = input(F.domain());
    Array q(F.range()), x(B.range());
    Stream& stream = default_stream(axes_.device);
    rows.push_back(timed_line(axes_, case_, "FDK", [&] {
      F.apply(1, y, 0, q, stream);
      B.apply(1, q, 0, x, stream);
    }));
    rows.back()["variant"] = name(model);
  }

  /// The pair with fewer voxels and views, so that random vectors are drawn quickly.
  LinearOperator small(Model model, FootprintTuning tuning = {}) const { return made(small_, model, tuning); }

  Rows rows = Rows::array();

 private:
  static std::string name(Model model) { return std::string(name_of(model)); }
  LinearOperator made(const ConeCase& of, Model model, FootprintTuning tuning) const {
    return projector(of.scan, of.grid, model, axes_.device, {.tuning = tuning});
  }
  void add_pair(Model model, const LinearOperator& A) {
    const Adjointness pair = adjointness(A, 2);
    rows.back()["variant"] = name(model);
    rows.back()["mu"] = pair.mismatch, rows.back()["kappa"] = pair.coupling;
  }

  const Axes& axes_;
  const OnLine& on_line_;
  ConeCase case_, small_;
};

void add_both_ways(ModelTimes& times, Model model, bool all_tunings, Device device) {
  const kernels::Grade& grade = model == Model::hierarchical
                                    ? kernels::hierarchical(device).front().grades.front()
                                    : kernels::cone(model, device).grades.front();
  const bool tuned = all_tunings && model == Model::separable_footprint;
  const auto add_bound = [&] {
    times.rows.back()["mu_bound"] = grade.bounds.mu, times.rows.back()["matched"] = grade.matched;
  };
  for (const int voxels : tuned ? std::vector{1, 2, 3} : std::vector{0}) {
    times.back(model, {0, voxels}, times.small(model, {0, voxels}));
    add_bound();
  }
  for (const int cells : tuned ? std::vector{64, 128, 256} : std::vector{0}) {
    times.forward(model, {cells, 0}, times.small(model, {cells, 0}));
    add_bound();
  }
  if (model == Model::separable_footprint || model == Model::hierarchical) times.fdk(model);
}

/// Joseph forward with pixel-driven back, J/VD of Georgin et al.
void add_unmatched(ModelTimes& times) {
  using enum Model;
  const LinearOperator pair = unmatched_pair(times.small(joseph), adjoint(times.small(pixel_driven)));
  times.back(pixel_driven, {}, pair);
  times.forward(joseph, {}, pair);
}

}  // namespace

Rows cone(const Axes& axes, const OnLine& on_line) {
  using enum Model;
  if (axes.streamed) return streamed_cone(axes, on_line);
  ModelTimes times(axes, on_line);
  for (const Execution& how : axes.executions) {
    const bool automatic = how.variant == "automatic";
    for (const Model model : {separable_footprint, joseph, pixel_driven, hierarchical})
      if (how.variant == name_of(model) || (automatic && model == separable_footprint))
        add_both_ways(times, model, axes.all_tunings, axes.device);
    if (automatic) add_unmatched(times);
  }
  return std::move(times.rows);
}

}  // namespace tandem::bench
