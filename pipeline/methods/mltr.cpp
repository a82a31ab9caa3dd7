#include "../../solvers/mltr.hpp"

#include <limits>
#include <utility>

#include "../../core/error.hpp"
#include "../../core/spelled.hpp"
#include "../../operators/vector.hpp"
#include "method.hpp"

namespace tandem::pipeline::made {

namespace {

/// The solver with transmissions as counts and a blank of ones: its step depends on ratios of counts only.
AnySolver solver_of(Equations equations, Array x0, const MethodOptions& options) {
  require<GeometryError>(options.lowest.value_or(0) == 0, spelled("bounds") + " ", options.lowest.value_or(0),
                         ": voxels of mltr are not below zero, and this is their lower bound; give 0:HIGH");
  Array blank(equations.A.range());
  fill(blank, 1, default_stream(blank.space().device()));
  const float highest = options.highest.value_or(std::numeric_limits<float>::infinity());
  return AnySolver(Mltr(std::move(equations.A), std::move(equations.y), std::move(blank), std::move(x0),
                        {.bounds = {.lowest = 0, .highest = highest}}));
}

}  // namespace

Method mltr() {
  return that_runs<Mltr>(
      {.name = "mltr",
       .help = "maximum likelihood of counts, without their logarithm: for a few photons, zeros among them",
       .options = {"bounds"},
       .only_positive = true,
       .takes_transmissions = true,
       .iterations = 20,
       .solver = solver_of});
}

}  // namespace tandem::pipeline::made
