#include "vector.hpp"

#include <cmath>
#include <numeric>

#include "../core/error.hpp"
#include "../kernels/vector.hpp"

namespace tandem {

namespace {

void require_equal(const char* name, const Space& x, const Space& y) {
  require<SpaceError>(x.fits(y), name, ": the vectors have ", x.size(), " and ", y.size(),
                      " elements, or lie in different spaces; their spaces must fit");
}

/// work(x, y, ...) for vectors of one space, part by part where it is a direct sum, of direct sums too.
template <class Work, class First, class... Rest>
void for_each_part(const Work& work, const First& first, const Rest&... rest) {
  if (first.space.parts() == 1) return work(first, rest...);
  for (int i = 0; i < first.space.parts(); ++i) for_each_part(work, first.part(i), rest.part(i)...);
}

}  // namespace

std::vector<double> dot(ConstVectorView x, ConstVectorView y, Stream& stream) {
  require_equal("dot", x.space, y.space);
  std::vector<double> sums(static_cast<std::size_t>(x.space.block_count()), 0.0), part(sums.size());
  for_each_part(
      [&](ConstVectorView u, ConstVectorView v) {
        kernels::vector(u.space.device()).dot(u, v, part, stream);
        for (std::size_t b = 0; b < sums.size(); ++b) sums[b] += part[b];
      },
      x, y);
  return sums;
}

std::vector<double> norm(ConstVectorView x, Stream& stream) {
  std::vector<double> norms = dot(x, x, stream);
  for (double& n : norms) n = std::sqrt(n);
  return norms;
}

std::vector<Index> count_not_finite(ConstVectorView x, Stream& stream) {
  std::vector<Index> counts(static_cast<std::size_t>(x.space.block_count()), 0), part(counts.size());
  for_each_part(
      [&](ConstVectorView u) {
        kernels::vector(u.space.device()).count_not_finite(u, part, stream);
        for (std::size_t b = 0; b < counts.size(); ++b) counts[b] += part[b];
      },
      x);
  return counts;
}

double total(std::span<const double> blocks) { return std::accumulate(blocks.begin(), blocks.end(), 0.0); }

void axpby(std::span<const float> a, ConstVectorView x, std::span<const float> b, VectorView y,
           Stream& stream) {
  require_equal("axpby", x.space, y.space);
  const auto blocks = static_cast<std::size_t>(x.space.block_count());
  require<SpaceError>((a.size() == 1 || a.size() == blocks) && (b.size() == 1 || b.size() == blocks),
                      "axpby: ", a.size(), " and ", b.size(), " scalars for ", blocks,
                      " blocks; give one, or one per block");
  for_each_part(
      [&](ConstVectorView u, VectorView v) { kernels::vector(u.space.device()).axpby(a, u, b, v, stream); },
      x, y);
}

void axpby(float a, ConstVectorView x, float b, VectorView y, Stream& stream) {
  axpby(std::span(&a, 1), x, std::span(&b, 1), y, stream);
}

void multiply(ConstVectorView x, VectorView y, Stream& stream) {
  require_equal("multiply", x.space, y.space);
  for_each_part(
      [&](ConstVectorView u, VectorView v) { kernels::vector(u.space.device()).multiply(u, v, stream); }, x,
      y);
}

void fill(VectorView x, float value, Stream& stream) {
  for_each_part([&](VectorView u) { kernels::vector(u.space.device()).fill(u, value, stream); }, x);
}

void reciprocal_or_zero(VectorView x, std::span<const float> floor, Stream& stream) {
  require<SpaceError>(floor.size() == 1 || floor.size() == static_cast<std::size_t>(x.space.block_count()),
                      "reciprocal_or_zero: ", floor.size(), " scalars for ", x.space.block_count(),
                      " blocks; give one, or one per block");
  for_each_part([&](VectorView u) { kernels::vector(u.space.device()).reciprocal_or_zero(u, floor, stream); },
                x);
}

void clamp_below(VectorView x, float lowest, Stream& stream) {
  for_each_part([&](VectorView u) { kernels::vector(u.space.device()).clamp_below(u, lowest, stream); }, x);
}

}  // namespace tandem
