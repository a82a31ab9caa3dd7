#include <cmath>

#include "../../../kernels/spectra.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes::method {

namespace {

struct Raven {
  double u0, order, v0;
};

constexpr Index pad = 20;

void remove(Plane& sinogram, const Raven& how) {
  Plane wide = padded(sinogram, pad, pad, nearest);
  std::vector<double> gain;
  for (Index r = 0; r < wide.rows; ++r)
    for (Index u = 0; u <= wide.columns / 2; ++u) {
      const bool low = static_cast<double>(std::min(r, wide.rows - r)) <= how.v0;
      gain.push_back(low ? 1 / (1 + std::pow(static_cast<double>(u) / how.u0, 2 * how.order)) : 1.0);
    }
  kernels::multiply_spectra(wide.values, wide.rows, wide.columns, gain);
  sinogram = cropped(wide, pad, pad);
}

}  // namespace

/// C. Raven, Review of Scientific Instruments 69, 2978 (1998).
Method raven() {
  return {
      .name = "raven",
      .help = "damps high frequencies along rows where those over the views are near 0 (Raven)",
      .options = {{"--raven-uvalue", "raven: frequency along the row from which on it is damped (default 20)",
                   PositiveNumber{1e6}},
                  {"--raven-nvalue", "raven: order of the Butterworth filter (default 4)",
                   PositiveNumber{100}},
                  {"--raven-vvalue", "raven: highest frequency over the views that is damped (default 2)",
                   PositiveNumber{1e6}}},
      .planes = 5,
      .begin = [](const Preprocessing& how) -> Work {
        const Raven own{value_of<double>(how.values, "--raven-uvalue").value_or(20),
                        value_of<double>(how.values, "--raven-nvalue").value_or(4),
                        value_of<double>(how.values, "--raven-vvalue").value_or(2)};
        return [own](Plane& sinogram, Notes&) { remove(sinogram, own); };
      }};
}

}  // namespace tandem::pipeline::stripes::method
