#include <cmath>
#include <string>

#include "../../../core/parallel.hpp"
#include "columns.hpp"
#include "faint.hpp"
#include "stripe_method.hpp"
#include "wide.hpp"

namespace tandem::pipeline::stripes::method {

namespace {

constexpr Index fewest_views = 16, fewest_bins = 32;

/// Line integrals, (bin, view).
Plane columns_of(const Plane& sinogram, bool transmissions) {
  constexpr float least = 1e-6f;
  Plane columns = transposed(sinogram);
  if (transmissions)
    parallel_for_blocks(columns.rows, 16, [&](Range some) {
      const auto first = columns.values.begin() + some.first * columns.columns;
      for (auto v = first; v != first + some.size() * columns.columns; ++v)
        *v = -std::log(std::max(*v, least));
    });
  return columns;
}

/// Takes constants out of line integrals, or factors out of transmissions.
void take_out(Plane& sinogram, const std::vector<double>& constants, bool transmissions) {
  std::vector<float> change;
  for (const double c : constants) change.push_back(static_cast<float>(transmissions ? std::exp(c) : c));
  for (Index view = 0; view < sinogram.rows; ++view)
    for (Index b = 0; b < sinogram.columns; ++b) {
      const float c = change[static_cast<std::size_t>(b)];
      sinogram(view, b) = transmissions ? sinogram(view, b) * c : sinogram(view, b) - c;
    }
}

void look_and_remove(Plane& sinogram, bool transmissions, Notes& notes) {
  if (sinogram.rows < fewest_views || sinogram.columns < fewest_bins) {
    ++notes["too few views or bins to know stripes, unchanged"];
    return;
  }
  const Index dead = remove_dead_columns(sinogram);
  Plane columns = columns_of(sinogram, transmissions);
  std::vector<double> constants(static_cast<std::size_t>(sinogram.columns), 0.0);
  const std::vector<WideStripe> wide = wide_stripes(columns);
  for (const WideStripe& stripe : wide)
    for (Index b = stripe.bins.first; b < stripe.bins.last; ++b) {
      const double c = stripe.constants[static_cast<std::size_t>(b - stripe.bins.first)];
      constants[static_cast<std::size_t>(b)] = c;
      for (float* v = columns.row(b); v != columns.row(b) + columns.columns; ++v)
        *v = static_cast<float>(*v - c);
    }
  const Strength strength = strength_of(columns);
  if (strength.is_significant()) {
    const std::vector<double> faint = constants_of(columns, strength);
    for (std::size_t b = 0; b < constants.size(); ++b) constants[b] += faint[b];
  }
  if (dead > 0) ++notes["dead or failing columns interpolated"];
  if (!wide.empty()) ++notes["wide stripes taken out"];
  if (strength.is_significant()) ++notes["faint stripes taken out"];
  if (dead == 0 && wide.empty() && !strength.is_significant()) ++notes["no stripes found, unchanged"];
  if (!wide.empty() || strength.is_significant()) take_out(sinogram, constants, transmissions);
}

}  // namespace

/// Looks for dead columns, for wide stripes and for faint ones, and takes out what is there beyond doubt.
Method automatic() {
  return {.name = "auto",
          .help = "looks for stripes, takes out what is there beyond doubt, and says what it did",
          .planes = 4,
          .begin = [](const Preprocessing& how) -> Work {
            return [transmissions = how.minus_log](Plane& sinogram, Notes& notes) {
              look_and_remove(sinogram, transmissions, notes);
            };
          }};
}

}  // namespace tandem::pipeline::stripes::method
