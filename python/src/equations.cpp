#include "equations.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/checks.hpp"

namespace tandem::python {

namespace {

void require_weights(const Array& w, Stream& stream) {
  Array scratch(w.space(), stream);
  require_none_negative(w, scratch, "data_weights", stream);
}

Array roots_of(const Array& w) {
  const Device device = w.space().device();
  Array roots = on_device(w.clone(), Device::cpu());
  for (Index k = 0; k < roots.size(); ++k) roots.data()[k] = std::sqrt(roots.data()[k]);
  return on_device(std::move(roots), device);
}

Equations<LinearOperator> damped(Equations<LinearOperator> equations, float weight, Stream& stream) {
  require<GeometryError>(weight >= 0 && std::isfinite(weight), "tikhonov_weight: ", weight,
                         " mm^2; 0 (none) or a positive number is needed");
  if (weight == 0) return equations;
  const Space volume = equations.A.domain();
  equations.A = vstack({std::move(equations.A), std::sqrt(weight) * identity(volume)});
  Array both = zeros(equations.A.range(), stream);
  axpby(1, equations.b, 0, VectorView(both).part(0), stream);
  equations.b = std::move(both);
  return equations;
}

}  // namespace

Array copied(const std::string& name, const Space& space, Address at, Stream& stream) {
  Array own(space, stream);
  copy(lent(at, space), own, stream);
  Index bad = 0;
  for (const Index count : count_not_finite(own, stream)) bad += count;
  require<GeometryError>(bad == 0, name, ": ", bad, " of ", space.size(),
                         " values are NaN or infinite; replace them before they enter a solver");
  return own;
}

Equations<LinearOperator> weighed(LinearOperator A, Array b, std::optional<Array> data_weights, Rows rows,
                                  float tikhonov_weight, Stream& stream) {
  if (data_weights) {
    require_weights(*data_weights, stream);
    Array factors = rows == Rows::by_roots ? roots_of(*data_weights) : std::move(*data_weights);
    multiply(factors, b, stream);
    A = diagonal(std::move(factors)) * A;
  }
  return damped({std::move(A), std::move(b)}, tikhonov_weight, stream);
}

Equations<Subsets> weighed(const Subsets& A, Array b, std::optional<Array> data_weights, Stream& stream) {
  if (!data_weights) return {A, std::move(b)};
  require_weights(*data_weights, stream);
  multiply(*data_weights, b, stream);
  return {A.weighed(*data_weights), std::move(b)};
}

}  // namespace tandem::python
