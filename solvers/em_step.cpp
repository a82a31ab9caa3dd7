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

void fill_empty_blocks(VectorView x, VectorView sums, std::span<const float> least, Stream& stream) {
  divide(sums, least, 0, sums, stream);  // 1, or 0 where no ray passes
  std::vector<float> missing;
  for (const double size : norm(x, stream)) missing.push_back(size > 0 ? 0.0f : 1.0f);
  axpby(missing, sums, 1, x, stream);
}

}  // namespace tandem
