#include <array>

#include "../../../core/error.hpp"
#include "stripe_method.hpp"

/// One line a method. A function in a file of its own, such as dead_method, returns the Method.
#define TANDEM_STRIPE_METHODS(METHOD) \
  METHOD(automatic)                   \
  METHOD(fourier_wavelet)             \
  METHOD(titarenko)                   \
  METHOD(smoothing)                   \
  METHOD(raven)                       \
  METHOD(sorting)                     \
  METHOD(filtering)                   \
  METHOD(fitting)                     \
  METHOD(large)                       \
  METHOD(dead)                        \
  METHOD(all)

namespace tandem::pipeline::stripes {

#define TANDEM_DECLARE(name) Method name##_method();
TANDEM_STRIPE_METHODS(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const Method> methods() {
#define TANDEM_MAKE(name) name##_method(),
  static const std::array every{TANDEM_STRIPE_METHODS(TANDEM_MAKE)};
#undef TANDEM_MAKE
  return every;
}

Index window_of(const Preprocessing& how, const Option<WholeNumber>& option, Index otherwise) {
  const auto given = option.of(how.values);
  if (how.bins == 0) return given.value_or(otherwise);
  require<GeometryError>(given.value_or(1) <= how.bins, words_of(option.name), "=", given.value_or(1),
                         ": the window is wider than a row of ", how.bins, " bins; give at most ", how.bins);
  return given.value_or(std::min(otherwise, how.bins));
}

Option<WholeNumber> window(std::string_view name, std::string_view help, std::string_view title) {
  return {name, help, WholeNumber{1, 10000, "bins"}, {}, title};
}

}  // namespace tandem::pipeline::stripes
