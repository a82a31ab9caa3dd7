#pragma once

#include <algorithm>
#include <string_view>

#include "../../counts/steps/stripes/stripe_method.hpp"

namespace tandem::test {

using pipeline::StepValues, pipeline::stripes::Plane;

/// A sinogram after a method with these options; what it noted.
inline Plane without_stripes(Plane sinogram, std::string_view name, StepValues values = {},
                             pipeline::Notes* notes = nullptr, std::optional<double> axis = {}) {
  const auto method =
      std::ranges::find_if(pipeline::stripes::methods(), [&](const auto& some) { return some.name == name; });
  pipeline::Notes own;
  const bool minus_log = pipeline::option::minus_log.of(values).value_or(true);
  const pipeline::Preprocessing how{
      .minus_log = minus_log, .values = std::move(values), .bins = sinogram.columns, .axis = axis};
  method->begin(how)(sinogram, notes ? *notes : own);
  return sinogram;
}

}  // namespace tandem::test
