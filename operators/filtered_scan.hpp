#pragma once

// Scans whose views have a filter. Used only within the library.

#include <type_traits>

#include "../core/error.hpp"
#include "../geometry/scan.hpp"

namespace tandem {

/// Calls `work` with a scan whose views have angles, since a filter weighs views by angles. @throws
/// GeometryError for a kind without angles
template <class Work>
auto with_filter(const Scan& scan, const Work& work) {
  return std::visit(
      [&](const auto& s) -> std::invoke_result_t<Work, const ConeBeam&> {
        if constexpr (requires { s.angles; }) return work(s);
        throw GeometryError("ramp filter: a " + std::string(s.kind) +
                            " beam has none; a solver takes it, such as cgls");
      },
      scan);
}

}  // namespace tandem
