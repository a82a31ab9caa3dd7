#include <algorithm>
#include <cmath>

#include "../../core/rounding.hpp"
#include "../../kernels/frames.hpp"
#include "between_rows.hpp"
#include "step.hpp"

namespace tandem::pipeline {

namespace {

/// Row r takes its values from r + shift, between rows by linear interpolation; beyond the first and the last
/// row, these as they are.
Index move_rows(Projection& of, double shift) {
  if (shift == 0) return 0;
  take_from_heights(of.y, [&](Index row, Index) { return row + shift; });
  return 0;
}

}  // namespace

/// This step comes behind the stripes, which stay in the rows of the detector.
Step row_shifts_step() {
  return {.name = "row-shifts",
          .help = "views whose images lie higher or lower are moved back ({view-row-shifts})",
          .makes_new_noise = true,
          .on_gpu = [](const Preprocessing& how) -> GpuWork {
            if (how.row_shifts.empty()) return {};
            return [shifts = how.row_shifts](GpuData& data) {
              const auto views = std::span(shifts).subspan(data.first_view, data.views());
              kernels::frames(data.stream.device())->move(views, data.y, data.stream);
              return std::optional<Index>(0);
            };
          },
          .on_projection = [](const Preprocessing& how) -> ProjectionWork {
            if (how.row_shifts.empty()) return {};
            return [shifts = how.row_shifts](Projection& of) {
              return move_rows(of, shifts[of.counts.first + of.view]);
            };
          },
          .margin = [](const Preprocessing& how) -> RowMargin {
            double most = 0;
            for (const double shift : how.row_shifts) most = std::max(most, std::abs(shift));
            return {ceil_index(most)};
          },
          .bytes_a_thread = [](const Preprocessing&, Shape shape) { return 4.0 * (shape[1] * shape[2]); }};
}

}  // namespace tandem::pipeline
