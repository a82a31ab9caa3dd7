// A fan beam, and a cone beam of few rows, for a scan as laboratories take it: FDK, both directions of the
// pair, and a step of CGLS.

#include "../operators/adjointness.hpp"
#include "../operators/algebra.hpp"
#include "../operators/fbp.hpp"
#include "../operators/projector.hpp"
#include "../solvers/cgls.hpp"
#include "footprint_error.hpp"
#include "harness.hpp"
#include "hierarchical_error.hpp"
#include "input.hpp"

namespace tandem::bench {

namespace {

/// A case with two bins for each voxel along x, a row for each slice as it appears at the axis, and views at
/// equal steps over a whole turn. The half angle of the fan is 8 degrees.
struct FanCase {
  FanBeam scan;
  VolumeGrid grid;
  FanCase(Index size, Index views, Index slices) {
    const double n = size, bin_pitch = 145.4 / (2 * n);
    scan.sod = 423.6, scan.sdd = 528;
    scan.detector = {2 * size, slices, bin_pitch, 2 * bin_pitch, n - 0.5 + 1.7};
    scan.midplane_row = 0.5 * (slices - 1);
    for (Index v = 0; v < views; ++v) scan.angles.push_back(whole_turn * v / views);
    const double pitch = 2 * bin_pitch / scan.magnification();
    grid = {{size, size, slices}, {pitch, pitch, pitch}, {}};
  }
  bool flat() const { return grid.size[2] == 1; }
  const ConeBeam& cone() const { return scan; }
  VolumeGrid seen_by_projector() const { return flat() ? tall_voxels(scan, grid) : grid; }
  VolumeGrid seen_by_fdk() const { return flat() ? flat_voxels(scan, grid) : grid; }
  double updates() const { return 1.0 * (grid.size[0] * grid.size[1] * grid.size[2]) * scan.angles.size(); }
};

/// All times for one number of slices.
class FanTimes {
 public:
  FanTimes(const Axes& axes, const OnLine& on_line, Index slices, Model model, Rows& rows)
      : axes_(axes),
        on_line_(on_line),
        model_(model),
        case_(axes.size, axes.views, slices),
        small_(std::min<Index>(axes.size, 128), std::min<Index>(axes.views, 128), slices),
        stream_(default_stream(axes.device)),
        rows_(rows) {}

  void fdk() {
    const LinearOperator F = ramp_filter(case_.cone(), {}, axes_.device),
                         B = fdk_backprojector(case_.cone(), case_.seen_by_fdk(), model_, axes_.device);
    const Array y = input(F.domain());
    Array q(F.range()), x(B.range());
    const double filter_ms = timed("filter", [&] { F.apply(1, y, 0, q, stream_); }).ms;
    add("FDK, back", 1, [&] { B.apply(1, q, 0, x, stream_); });
    const double ms = add("FDK", 1, [&] {
      F.apply(1, y, 0, q, stream_);
      B.apply(1, q, 0, x, stream_);
    });
    rows_.back()["filter_share"] = filter_ms / ms;
  }

  void pair() {
    const LinearOperator A = made(case_);
    const Adjointness matched = adjointness(made(small_), 2);
    const bool footprints = model_ == Model::separable_footprint;
    const auto add_errors = [&](const std::function<double()>& error) {
      if (footprints) rows_.back()["relative_error"] = error();
      rows_.back()["mu"] = matched.mismatch, rows_.back()["kappa"] = matched.coupling;
    };
    const ConeViews n = pack(case_.cone(), case_.seen_by_projector());
    Array q = input(A.range()), x(A.domain());
    add("back", 1, [&] { A.apply_adjoint(1, q, 0, x, stream_); });
    add_errors([&] { return footprint_backward_error(n, on_host(q), on_host(x)); });
    if (!footprints)
      rows_.back()["relative_error"] =
          hierarchical_error(case_.cone(), case_.seen_by_projector(), axes_.device);
    x = input(A.domain());
    add("forward", 1, [&] { A.apply(1, x, 0, q, stream_); });
    add_errors([&] { return footprint_forward_error(n, on_host(x), on_host(q)); });
    Cgls solver(A, q, Array(A.domain()));
    add("cgls step", 2, [&] { solver.step({true}); });
  }

 private:
  static Array on_host(const Array& a) { return on_device(a, Device::cpu()); }
  LinearOperator made(const FanCase& c) const {
    return projector(c.cone(), c.seen_by_projector(), model_, axes_.device);
  }
  RunTimes timed(const std::string& what, const std::function<void()>& body) {
    on_line_(what + ", " + std::to_string(case_.grid.size[2]) + " slices");
    return times_of(axes_, body);
  }
  /// Adds a line to the table. `body` updates each voxel `times` times for each view. Returns its time in ms.
  double add(const std::string& what, double times, const std::function<void()>& body) {
    const auto [ms, cpu_ms] = timed(what, body);
    rows_.push_back(table_line({std::string(name_of(model_))}, what,
                               {case_.grid.size[2], axes_.size, axes_.views}, ms, times * case_.updates()));
    if (!axes_.device.is_cuda()) rows_.back()["cpu_ms"] = cpu_ms;
    return ms;
  }

  const Axes& axes_;
  const OnLine& on_line_;
  Model model_;
  FanCase case_, small_;
  Stream& stream_;
  Rows& rows_;
};

}  // namespace

Rows fan(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  const bool hierarchical = axes.executions.front().variant == name_of(Model::hierarchical);
  for (const Index slices : axes.slices) {
    FanTimes times(axes, on_line, slices, hierarchical ? Model::hierarchical : Model::separable_footprint,
                   rows);
    times.fdk();
    times.pair();
  }
  return rows;
}

}  // namespace tandem::bench
