#include "coverage.hpp"

#include "vector.hpp"

namespace tandem {

Coverage::Coverage(const LinearOperator& A) : coverage_(A.domain(), default_stream(A.domain().device())) {
  Stream& stream = default_stream(coverage_.space().device());
  Array ones(A.range(), stream);
  fill(ones, 1, stream);
  A.apply_adjoint(1, ones, 0, coverage_, stream);
  Array all(A.domain(), stream);
  fill(all, 1, stream);
  const std::vector<double> squares = dot(coverage_, coverage_, stream), sums = dot(all, coverage_, stream);
  for (std::size_t k = 0; k < sums.size(); ++k) usual_.push_back(sums[k] > 0 ? squares[k] / sums[k] : 0);
}

Array Coverage::above(double share) const {
  Stream& stream = default_stream(coverage_.space().device());
  std::vector<float> floor;
  for (const double usual : usual_) floor.push_back(static_cast<float>(share * usual));
  Array seen = coverage_.clone();
  divide(coverage_, floor, 0, seen, stream);
  return seen;
}

}  // namespace tandem
