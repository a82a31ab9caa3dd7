#include <string_view>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../files/text.hpp"
#include "frame_source.hpp"

namespace tandem::io {

double radians_per(const std::string& unit, const std::string& where) {
  const std::string name = in_lower_case(std::string(trimmed(unit)));
  for (const std::string_view degree : {"", "deg", "degs", "degree", "degrees", "deg.", "\u00b0"})
    if (name == degree) return in_radians(1);
  for (const std::string_view radian : {"rad", "rads", "radian", "radians"})
    if (name == radian) return 1;
  throw FileError(where + ": units = \"" + unit + "\" is no angle; \"deg\" or \"rad\" is needed");
}

std::optional<double> mm_per(const std::string& unit) {
  struct Lengths {
    double mm;
    std::string_view names;
  };
  // two signs look like a mu: the micro sign and the Greek letter
  constexpr Lengths lengths[] = {
      {1e3, "m meter metre meters metres"},
      {10, "cm centimeter"},
      {1, "mm millimeter millimetre millimeters millimetres"},
      {1e-3, "um \u00b5m \u03bcm micron microns micrometer micrometre micrometers micrometres"},
      {1e-6, "nm nanometer nanometers"}};
  const std::string name = in_lower_case(std::string(trimmed(unit)));
  for (const auto& [mm, names] : lengths)
    if (is_among(name, names)) return mm;
  return std::nullopt;
}

}  // namespace tandem::io
