#pragma once

#include <span>
#include <string_view>

#include "cone.hpp"
#include "flexible.hpp"
#include "fourier.hpp"
#include "hierarchical.hpp"
#include "parallel.hpp"

namespace tandem::kernels {

/// The tables for a kind of device, also if no such device is here.
struct Backend {
  std::string_view name;  ///< "cpu", "cuda"
  Table<ParallelViews> parallel;
  Table<ConeViews> cone;
  Table<FourierViews> fourier;
  Table<FlexibleViews> flexible;
  Table<HierarchicalViews> hierarchical;
};

/// All backends of this build.
std::span<const Backend> backends();

}  // namespace tandem::kernels
