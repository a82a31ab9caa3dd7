#include <array>

#include "step.hpp"

/// One line a step, in their order. A function in a file of its own, such as air_step, returns the Step.
#define TANDEM_STEPS(STEP)  \
  STEP(dezinger)            \
  STEP(dezinger_projection) \
  STEP(dezinger_cube)       \
  STEP(saturation)          \
  STEP(not_finite)          \
  STEP(scatter)             \
  STEP(dark_flat)           \
  STEP(air)                 \
  STEP(repair_cells)        \
  STEP(dead_cells)          \
  STEP(lost_rows)           \
  STEP(detector_roll)       \
  STEP(stripes)             \
  STEP(upright)             \
  STEP(row_shifts)          \
  STEP(phase)               \
  STEP(minus_log)           \
  STEP(photons)             \
  STEP(beam_hardening)

namespace tandem::pipeline {

#define TANDEM_DECLARE(name) Step name##_step();
TANDEM_STEPS(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const Step> steps() {
#define TANDEM_MAKE(name) name##_step(),
  static const std::array all{TANDEM_STEPS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

}  // namespace tandem::pipeline
