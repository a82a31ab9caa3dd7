// The time of a step of each solver of a cone beam, beside the times of its two kernels, on one device or on
// a team.

#include "../operators/projector.hpp"
#include "../pipeline/methods/method.hpp"
#include "cone_case.hpp"
#include "harness.hpp"
#include "input.hpp"

namespace tandem::bench {

namespace {

Rows::value_type line(const ConeCase& c, const std::string& direction, Index devices, double ms,
                      double applications) {
  Rows::value_type row = footprint_line(c, direction, ms, applications);
  row["devices"] = devices;
  return row;
}

/// Milliseconds of A, and of At, in which the members of a team add up.
std::array<double, 2> kernels_ms(const Axes& axes, const LinearOperator& A) {
  Stream& stream = default_stream(axes.device);
  Array x = input(A.domain()), q(A.range());
  const double forward = median_ms(axes, [&] { A.apply(1, x, 0, q, stream); });
  return {forward, median_ms(axes, [&] { A.apply_adjoint(1, q, 0, x, stream); })};
}

void add_steps(const Axes& axes, const OnLine& on_line, const ConeCase& c, Rows& rows) {
  const Index devices = axes.device.members();
  const std::string where = " on " + axes.device.name();
  const LinearOperator A = projector(c.scan, c.grid, Model::separable_footprint, axes.device);
  on_line("kernels" + where);
  const auto [forward, back] = kernels_ms(axes, A);
  rows.push_back(line(c, "forward", devices, forward, 1));
  rows.push_back(line(c, "back", devices, back, 1));
  const Array b = input(A.range());
  for (const auto* method : methods_to_time(axes.methods)) {
    const std::string name(method->name);
    on_line(name + where);
    auto solver = method->solver({A, data_for(*method, b)}, Array(A.domain()), {});
    const double ms = median_ms(axes, [&] { solver.step({true}); });
    rows.push_back(line(c, name + " step", devices, ms, method->kind.cost.step.together()));
    rows.back()["kernels_ms"] = forward + back;
    rows.back()["over"] = ms / (forward + back);
  }
}

}  // namespace

Rows cone_solvers(const Axes& axes, const OnLine& on_line) {
  Rows rows = Rows::array();
  const ConeCase c(axes.size, axes.views);
  for (const Index count : axes.devices) {
    Axes own = axes;
    own.device = Device::team(first_devices(axes.device, count));
    add_steps(own, on_line, c, rows);
  }
  return rows;
}

}  // namespace tandem::bench
