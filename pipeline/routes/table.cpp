#include <algorithm>
#include <array>

#include "../plan/route.hpp"

/// One line for each route; the first one that takes a job has it. A function in the file of the route
/// returns it.
#define TANDEM_ROUTES(ROUTE) \
  ROUTE(growing)             \
  ROUTE(slices)              \
  ROUTE(views)               \
  ROUTE(slabs)               \
  ROUTE(ranks)               \
  ROUTE(whole)

namespace tandem::pipeline {

#define TANDEM_DECLARE(name) Route name();
TANDEM_ROUTES(TANDEM_DECLARE)
#undef TANDEM_DECLARE

std::span<const Route> routes() {
#define TANDEM_MAKE(name) name(),
  static const std::array all{TANDEM_ROUTES(TANDEM_MAKE)};
#undef TANDEM_MAKE
  static_assert(all.size() == std::variant_size_v<RouteSizes>,
                "each route has a line here and sizes of its own");
  return all;
}

const Route& route_of(const Flow& flow) {
  return *std::ranges::find_if(routes(),
                               [&](const Route& route) { return route.sizes.index() == flow.sizes.index(); });
}

}  // namespace tandem::pipeline
