#include "em_step.hpp"

#include <vector>

#include "../operators/vector.hpp"

namespace tandem {

void em_step(const LinearOperator& B, const EmStep& step, Stream& stream) {
  const float one = 1, zeros = 1e-30f;
  reciprocal_or_zero(step.projected, std::span(&zeros, 1), stream);
  multiply(step.projected, step.rest, stream);
  B.apply_adjoint(1, step.rest, 0, step.update, stream);
  multiply(step.inverse, step.update, stream);
  multiply(step.x, step.update, stream);
  axpby(step.take, step.update, std::span(&one, 1), step.x, stream);
  clamp_below(step.x, 0, stream);  // rounding
}

void fill_empty_blocks(VectorView x, VectorView sums, ConstVectorView inverse, Stream& stream) {
  multiply(inverse, sums, stream);  // 1, or 0 where no ray passes
  std::vector<float> missing;
  for (const double size : norm(x, stream)) missing.push_back(size > 0 ? 0.0f : 1.0f);
  const float one = 1;
  axpby(missing, sums, std::span(&one, 1), x, stream);
}

}  // namespace tandem
