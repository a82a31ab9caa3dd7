#include <array>

#include "routes.hpp"

namespace tandem::pipeline {

std::span<const Route> routes() {
  static const std::array all{growing(), slices(), views(), slabs(), ranks(), whole()};
  return all;
}

}  // namespace tandem::pipeline
