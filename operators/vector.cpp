#include "vector.hpp"

#include <cmath>
#include <numeric>

#include "../core/error.hpp"
#include "../kernels/vector.hpp"
#include "shares.hpp"

namespace tandem {

namespace {

void require_equal(const char* name, const Space& x, const Space& y) {
  require<SpaceError>(x.fits(y), name, ": the vectors have ", x.size(), " and ", y.size(),
                      " elements, or lie in different spaces; their spaces must fit");
}

void require_scalars(const char* name, std::span<const float> each, const Space& space) {
  require<SpaceError>(each.size() == 1 || std::ssize(each) == space.block_count(), name, ": ", each.size(),
                      " scalars for ", space.block_count(), " blocks; give one, or one per block");
}

/// Calls work(x, y, ...) for vectors of one space. If it is a direct sum, it calls it for each part, also of
/// nested sums.
template <class Work, class First, class... Rest>
void for_each_part(const Work& work, const First& first, const Rest&... rest) {
  if (first.space.parts() == 1) return work(first, rest...);
  for (int i = 0; i < first.space.parts(); ++i) for_each_part(work, first.part(i), rest.part(i)...);
}

/// Calls work(kernels, stream, x, y, ...) for the share of each device in each part. The work is queued on
/// all devices. A rank may have nothing.
template <class Work, class First, class... Rest>
void for_each_share(Stream& stream, const Work& work, const First& first, const Rest&... rest) {
  for_each_part(
      [&](const First& x, const Rest&... others) {
        for (int k = 0; k < x.space.shares() && x.space.size() > 0; ++k)
          work(kernels::vector(x.space.device().member(k)), stream.member(k), x.share(k), others.share(k)...);
      },
      first, rest...);
}

/// Adds up the results of `sum(kernels, stream, sums, x, y, ...)` over all parts, shares and ranks: one
/// number per block.
template <class Number, class Sum, class First, class... Rest>
std::vector<Number> sums_of(Stream& stream, const Sum& sum, const First& first, const Rest&... rest) {
  std::vector<Number> sums(first.space.block_count(), 0), of_part(sums.size());
  for_each_part(
      [&](const First& x, const Rest&... others) {
        if (x.space.size() == 0) return;
        sum_over_shares(x.space, std::span(of_part), [&](int k, std::span<Number> of_share) {
          sum(kernels::vector(x.space.device().member(k)), stream.member(k), of_share, x.share(k),
              others.share(k)...);
        });
        for (std::size_t b = 0; b < sums.size(); ++b) sums[b] += of_part[b];
      },
      first, rest...);
  sum_over_ranks(first.space, std::span(sums));
  return sums;
}

using kernels::VectorKernels;

}  // namespace

std::vector<double> dot(ConstVectorView x, ConstVectorView y, Stream& stream) {
  require_equal("dot", x.space, y.space);
  return sums_of<double>(
      stream,
      [](const VectorKernels& run, Stream& s, std::span<double> sums, const ConstVectorView& u,
         const ConstVectorView& v) { run.dot(u, v, sums, s); },
      x, y);
}

std::vector<double> norm(ConstVectorView x, Stream& stream) {
  std::vector<double> norms = dot(x, x, stream);
  for (double& n : norms) n = std::sqrt(n);
  return norms;
}

std::vector<Index> count_not_finite(ConstVectorView x, Stream& stream) {
  return sums_of<Index>(
      stream,
      [](const VectorKernels& run, Stream& s, std::span<Index> counts, const ConstVectorView& u) {
        run.count_not_finite(u, counts, s);
      },
      x);
}

double total(std::span<const double> blocks) { return std::accumulate(blocks.begin(), blocks.end(), 0.0); }

void axpby(const Scalars& a, ConstVectorView x, const Scalars& b, VectorView y, Stream& stream) {
  require_equal("axpby", x.space, y.space);
  const std::span<const float> of_x = a, of_y = b;
  const std::size_t blocks = x.space.block_count();
  require<SpaceError>(
      (of_x.size() == 1 || of_x.size() == blocks) && (of_y.size() == 1 || of_y.size() == blocks),
      "axpby: ", of_x.size(), " and ", of_y.size(), " scalars for ", blocks,
      " blocks; give one, or one per block");
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const ConstVectorView& u, const VectorView& v) {
        run.axpby(of_x, u, of_y, v, s);
      },
      x, y);
}

namespace {

/// Changes each element of y by the same element of x.
void change_by(const char* name, void (*VectorKernels::*kernel)(ConstVectorView, VectorView, Stream&),
               ConstVectorView x, VectorView y, Stream& stream) {
  require_equal(name, x.space, y.space);
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const ConstVectorView& u, const VectorView& v) {
        (run.*kernel)(u, v, s);
      },
      x, y);
}

}  // namespace

void multiply(ConstVectorView x, VectorView y, Stream& stream) {
  change_by("multiply", &VectorKernels::multiply, x, y, stream);
}

void attenuate(ConstVectorView x, VectorView y, Stream& stream) {
  change_by("attenuate", &VectorKernels::attenuate, x, y, stream);
}

void fill(VectorView x, float value, Stream& stream) {
  for_each_share(
      stream, [&](const VectorKernels& run, Stream& s, const VectorView& u) { run.fill(u, value, s); }, x);
}

void divide(ConstVectorView x, const Scalars& floor, float otherwise, VectorView y, Stream& stream) {
  require_equal("divide", x.space, y.space);
  require_scalars("divide", floor, x.space);
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const ConstVectorView& u, const VectorView& v) {
        run.divide(u, floor, otherwise, v, s);
      },
      x, y);
}

void shrink(ConstVectorView x, const Scalars& by, VectorView y, Stream& stream) {
  require_equal("shrink", x.space, y.space);
  require_scalars("shrink", by, x.space);
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const ConstVectorView& u, const VectorView& v) {
        run.shrink(u, by, v, s);
      },
      x, y);
}

void reciprocal_or_zero(VectorView x, const Scalars& floor, Stream& stream) {
  require_scalars("reciprocal_or_zero", floor, x.space);
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const VectorView& u) { run.reciprocal_or_zero(u, floor, s); },
      x);
}

void clamp_below(VectorView x, float lowest, Stream& stream) {
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const VectorView& u) { run.clamp_below(u, lowest, s); }, x);
}

void clamp_each(ConstVectorView ends, bool above, VectorView x, Stream& stream) {
  require_equal("clamp_each", ends.space, x.space);
  for_each_share(
      stream,
      [&](const VectorKernels& run, Stream& s, const ConstVectorView& u, const VectorView& v) {
        run.clamp_each(u, above, v, s);
      },
      ends, x);
}

}  // namespace tandem
