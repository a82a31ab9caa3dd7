#include <cmath>

#include "../../core/rounding.hpp"
#include "../../core/units.hpp"
#include "../../kernels/frames.hpp"
#include "between_rows.hpp"
#include "step.hpp"

namespace tandem::pipeline {

const Option<Number> option::detector_roll{
    "detector-roll",
    "degrees by which the axis leans towards higher bins at higher rows; "
    "{rotation-axis} is that of the middle row (cone beam: of the midplane)",
    Number{-2, 2, "degrees"}};

namespace {

/// How many rows the two ends of a row of so many bins lie apart from its middle.
double rise(double slope, Index bins) { return 0.5 * (bins - 1) * slope; }

kernels::RolledRows rolled(double slope, Index bins) { return {slope, rise(slope, bins)}; }

/// Empty if nothing is to be levelled. A cone beam has the step `upright`.
std::optional<double> slope_of(const Preprocessing& how) {
  if (how.pose) return std::nullopt;
  const auto roll = option::detector_roll.of(how.values);
  return roll && *roll != 0 ? std::optional(std::tan(in_radians(*roll))) : std::nullopt;
}

/// Each bin takes its value from where the roll has put its row: r' = r - (b - middle) slope, between rows
/// by linear interpolation, beyond the first and the last one as they are.
Index level(Projection& of, const kernels::RolledRows& rolled_by) {
  take_from_heights(of.y, [&](Index row, Index bin) { return row - rolled_by.shift(bin); });
  return 0;
}

}  // namespace

Step detector_roll_step() {
  return {.name = "detector-roll",
          .help = "rows of a rolled detector become rows of one height",
          .options = {option::detector_roll},
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            const auto slope = slope_of(how);
            if (!slope) return {};
            return [slope = *slope](GpuData& data) {
              kernels::frames(data.stream.device())->level(rolled(slope, data.y.n2), data.y, data.stream);
              return std::optional<Index>(0);
            };
          },
          .on_projection = [](const Preprocessing& how) -> ProjectionWork {
            const auto slope = slope_of(how);
            if (!slope) return {};
            return [slope = *slope](Projection& of) { return level(of, rolled(slope, of.y.n2)); };
          },
          .margin = [](const Preprocessing& how) -> RowMargin {
            return {ceil_index(rise(std::abs(slope_of(how).value()), how.bins)) + 1};
          },
          .bytes_a_thread = [](const Preprocessing&, Shape shape) { return 4.0 * (shape[1] * shape[2]); }};
}

}  // namespace tandem::pipeline
