#include "tandem/operators/vector.hpp"

#include <cmath>
#include <numeric>

#include "tandem/core/error.hpp"
#include "tandem/kernels/vector.hpp"

namespace tandem {

namespace {

void require_equal(const char* name, const Space& x, const Space& y) {
  require<SpaceError>(x == y, name, ": the vectors have ", x.size(), " and ", y.size(),
                      " elements, or lie in different spaces; they must share one");
}

}  // namespace

std::vector<double> dot(ConstView x, ConstView y, Stream& stream) {
  require_equal("dot", x.space, y.space);
  std::vector<double> sums(static_cast<std::size_t>(x.space.block_count()), 0.0), part(sums.size());
  for (int i = 0; i < x.space.parts(); ++i) {
    kernels::vector(x.space.device()).dot(x.part(i), y.part(i), part, stream);
    for (std::size_t b = 0; b < sums.size(); ++b) sums[b] += part[b];
  }
  return sums;
}

std::vector<double> norm(ConstView x, Stream& stream) {
  std::vector<double> norms = dot(x, x, stream);
  for (double& n : norms) n = std::sqrt(n);
  return norms;
}

double total(std::span<const double> blocks) { return std::accumulate(blocks.begin(), blocks.end(), 0.0); }

void axpby(std::span<const float> a, ConstView x, std::span<const float> b, View y, Stream& stream) {
  require_equal("axpby", x.space, y.space);
  const auto blocks = static_cast<std::size_t>(x.space.block_count());
  require<SpaceError>((a.size() == 1 || a.size() == blocks) && (b.size() == 1 || b.size() == blocks),
                      "axpby: ", a.size(), " and ", b.size(), " scalars for ", blocks,
                      " blocks; give one, or one a block");
  for (int i = 0; i < x.space.parts(); ++i)
    kernels::vector(x.space.device()).axpby(a, x.part(i), b, y.part(i), stream);
}

void axpby(float a, ConstView x, float b, View y, Stream& stream) {
  axpby(std::span(&a, 1), x, std::span(&b, 1), y, stream);
}

void multiply(ConstView x, View y, Stream& stream) {
  require_equal("multiply", x.space, y.space);
  for (int i = 0; i < x.space.parts(); ++i)
    kernels::vector(x.space.device()).multiply(x.part(i), y.part(i), stream);
}

void fill(View x, float value, Stream& stream) {
  for (int i = 0; i < x.space.parts(); ++i) kernels::vector(x.space.device()).fill(x.part(i), value, stream);
}

void reciprocal_or_zero(View x, float floor, Stream& stream) {
  for (int i = 0; i < x.space.parts(); ++i)
    kernels::vector(x.space.device()).reciprocal_or_zero(x.part(i), floor, stream);
}

void clamp_below(View x, float lowest, Stream& stream) {
  for (int i = 0; i < x.space.parts(); ++i)
    kernels::vector(x.space.device()).clamp_below(x.part(i), lowest, stream);
}

}  // namespace tandem
