#include "given_number.hpp"

#include <algorithm>
#include <cmath>

#include "../files/text.hpp"

namespace tandem::io {

std::string given_over_recorded(const std::string& option, const std::optional<double>& given,
                                const std::optional<double>& recorded, const std::string& unit) {
  constexpr double same = 0.01, far = 100;
  if (!given || !recorded || std::abs(*given - *recorded) <= same * std::abs(*recorded)) return {};
  const double larger = std::abs(*given / *recorded), times = std::max(larger, 1 / larger);
  return words(option, " ", *given, " ", unit, " is taken, and the scan records ", *recorded, " ", unit,
               times < far ? ""
                           : words(", which is ", times, larger > 1 ? " times less" : " times more",
                                   "; check the unit, which is ", unit));
}

}  // namespace tandem::io
