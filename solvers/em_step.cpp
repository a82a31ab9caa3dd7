#include "em_step.hpp"

#include <vector>

#include "../operators/vector.hpp"

namespace tandem {

void em_step(const LinearOperator& B, const EmStep& step, Stream& stream) {
  const float zeros = 1e-30f;
  divide(step.projected, zeros, 1, step.ratio, stream);
  B.apply_adjoint(1, step.ratio, 0, step.update, stream);
  divide(step.sums, step.least, 1, step.update, stream);
  multiply(step.x, step.update, stream);
  std::vector<float> leave;
  for (const float take : step.take) leave.push_back(1 - take);
  axpby(step.take, step.update, leave, step.x, stream);
}

void fill_empty_blocks(const EmStep& step, Stream& stream) {
  axpby(1, step.sums, 0, step.update, stream);
  divide(step.sums, step.least, 0, step.update, stream);  // 1, or 0 where no ray passes
  const std::vector<double> lengths = norm(step.x, stream), data = dot(step.projected, step.ratio, stream),
                            of_ones = dot(step.sums, step.update, stream);
  std::vector<float> values;
  for (std::size_t k = 0; k < lengths.size(); ++k)
    values.push_back(lengths[k] > 0 || !(of_ones[k] > 0) ? 0.0f : static_cast<float>(data[k] / of_ones[k]));
  axpby(values, step.update, 1, step.x, stream);
}

}  // namespace tandem
