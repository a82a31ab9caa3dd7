#include "shortest_number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace tandem {

double shortest_number(double number, double off) {
  if (std::abs(number) <= off) return 0;
  for (int digits = 0; digits < std::numeric_limits<double>::max_digits10; ++digits) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.begin(), text.end(), number, std::chars_format::scientific, digits);
    double rounded = number;
    std::from_chars(text.begin(), end.ptr, rounded);
    if (std::abs(rounded - number) <= off) return rounded;
  }
  return number;
}

}  // namespace tandem
