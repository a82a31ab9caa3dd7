#pragma once

#include <span>
#include <string_view>

#include "cone.hpp"
#include "parallel.hpp"

namespace tandem::kernels {

/// The tables of a kind of device, whether one is here or not.
struct Backend {
  std::string_view name;  ///< "cpu", "cuda"
  Table<ParallelViews> parallel;
  Table<ConeViews> cone;
};

/// All that this build has.
std::span<const Backend> backends();

}  // namespace tandem::kernels
