#include "equations.hpp"

#include <cmath>
#include <utility>
#include <variant>

#include "../../core/error.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/checks.hpp"
#include "../../solvers/damping.hpp"

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

Bounds with_given(Bounds bounds, const Space& domain, const Given& given, Stream& stream) {
  const auto each = [&](Address at) -> std::shared_ptr<const Array> {
    if (!at) return nullptr;
    Array own(domain, stream);
    copy(lent(at, domain), own, stream);
    return std::make_shared<const Array>(std::move(own));
  };
  bounds.lowest_of_each = each(given.lowest), bounds.highest_of_each = each(given.highest);
  validate(bounds);
  return bounds;
}

SolverInput weighed(const SolverKind& kind, SolverInput input, float tikhonov_weight) {
  if (input.data_weights && kind.data_weights != DataWeights::by_itself) {
    Stream& stream = default_stream(input.b.space().device());
    require_weights(*input.data_weights, stream);
    Array factors = kind.data_weights == DataWeights::by_roots ? roots_of(*input.data_weights)
                                                               : std::move(*input.data_weights);
    input.data_weights.reset();
    multiply(factors, input.b, stream);
    if (auto* subsets = std::get_if<Subsets>(&input.A))
      input.A = subsets->weighed(factors);
    else
      input.A = diagonal(std::move(factors)) * std::get<LinearOperator>(input.A);
  }
  if (tikhonov_weight != 0) damp(std::get<LinearOperator>(input.A), input.b, tikhonov_weight);
  return input;
}

}  // namespace tandem::python
