#include <array>

#include "step.hpp"

/// One line a step, in their order: its name is that of a function in a file of its own, which returns the
/// Step.
#define TANDEM_STEPS(STEP)  \
  STEP(dezinger)            \
  STEP(dezinger_projection) \
  STEP(dezinger_cube)       \
  STEP(saturation)          \
  STEP(not_finite)          \
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
  STEP(beam_hardening)

namespace tandem::pipeline {

namespace step {
#define TANDEM_DECLARE(name) Step name();
TANDEM_STEPS(TANDEM_DECLARE)
#undef TANDEM_DECLARE
}  // namespace step

std::span<const Step> steps() {
#define TANDEM_MAKE(name) step::name(),
  static const std::array all{TANDEM_STEPS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return all;
}

}  // namespace tandem::pipeline
