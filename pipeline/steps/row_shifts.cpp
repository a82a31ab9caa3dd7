#include <algorithm>
#include <cmath>
#include <vector>

#include "step.hpp"

namespace tandem::pipeline::step {

namespace {

/// Row r takes its values from r + shift, between rows by linear interpolation; beyond the first and the last
/// row, these as they are.
Index move_rows(Projection& of, double shift) {
  if (shift == 0) return 0;
  const Image<float>& y = of.y;
  std::vector<float> moved(static_cast<std::size_t>(y.n1 * y.n2));
  for (Index r = 0; r < y.n1; ++r) std::copy_n(&y(0, r, 0), y.n2, moved.data() + r * y.n2);
  const double last = static_cast<double>(y.n1 - 1);
  for (Index r = 0; r < y.n1; ++r) {
    const double at = std::clamp(static_cast<double>(r) + shift, 0.0, last);
    const auto low = static_cast<Index>(at), high = std::min(low + 1, y.n1 - 1);
    const auto part = static_cast<float>(at - static_cast<double>(low));
    for (Index b = 0; b < y.n2; ++b)
      y(0, r, b) = (1 - part) * moved[static_cast<std::size_t>(low * y.n2 + b)] +
                   part * moved[static_cast<std::size_t>(high * y.n2 + b)];
  }
  return 0;
}

}  // namespace

/// Behind the stripes, which stay in the rows of the detector.
Step row_shifts() {
  return {.name = "row-shifts",
          .help = "views whose images lie higher or lower are moved back (--view-row-shifts)",
          .makes_new_noise = true,
          .on_projection = [](const Preprocessing& how) -> ProjectionWork {
            if (how.row_shifts.empty()) return {};
            return [shifts = how.row_shifts](Projection& of) {
              return move_rows(of, shifts[static_cast<std::size_t>(of.counts.first + of.view)]);
            };
          },
          .margin = [](const Preprocessing& how) -> Index {
            double most = 0;
            for (const double shift : how.row_shifts) most = std::max(most, std::abs(shift));
            return static_cast<Index>(std::ceil(most));
          },
          .bytes_a_thread = [](const Preprocessing&,
                               Shape shape) { return 4.0 * static_cast<double>(shape[1] * shape[2]); }};
}

}  // namespace tandem::pipeline::step
