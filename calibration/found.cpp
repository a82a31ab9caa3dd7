#include "found.hpp"

#include <cmath>

#include "../core/spelled.hpp"

namespace tandem::calibration {

void warn_of_sense(Found& found, double clearly, const std::string& what) {
  const auto& [reversed, other] = found.sense.value();
  if (other && *other < clearly)
    found.warnings.push_back("calibrate: views go round one way or the other: both fit " + what +
                             "nearly as well");
  else if (reversed)
    found.warnings.push_back(
        "calibrate: the sample turns against the angles of the scan; the file that is written has it right, "
        "and " +
        spelled("rotation-direction") + " -1 tells other commands");
}

double rms_of(const std::vector<Miss>& misses) {
  double sum = 0;
  for (const Miss& miss : misses) sum += miss.off[0] * miss.off[0] + miss.off[1] * miss.off[1];
  return std::sqrt(sum / (2 * misses.size()));
}

}  // namespace tandem::calibration
