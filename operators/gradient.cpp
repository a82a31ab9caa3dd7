#include "gradient.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "../core/error.hpp"
#include "../kernels/differences.hpp"
#include "distributed/rank_gradient.hpp"
#include "distributed/team_operator.hpp"
#include "shares.hpp"

namespace tandem {

namespace {

/// The number of axes with differences.
int axes_of(const Space& volume) {
  require<SpaceError>(volume.parts() == 1 && volume.blocks() != Blocks::rows,
                      "gradient: the space is a direct sum, or holds projections; a volume is needed");
  return volume.blocks() == Blocks::slices || volume.shape()[0] == 1 ? 2 : 3;
}

struct Gradient {
  Space volume, field;
  std::vector<float> scales;
  float shear;

  Gradient(const Space& v, std::span<const float> s, float shear_of_y)
      : volume(v),
        field(Space::direct_sum(std::vector<Space>(s.size(), v))),
        scales(s.begin(), s.end()),
        shear(shear_of_y) {}
  Space domain() const { return volume; }
  Space range() const { return field; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    const kernels::DifferenceKernels& some = kernels::differences(volume.device());
    some.forward(alpha, x, beta, y, scales, stream);
    if (shear != 0) some.forward(alpha, x, 1, y.part(field.parts() - 2), {&shear, 1}, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    const kernels::DifferenceKernels& some = kernels::differences(volume.device());
    some.backward(alpha, y, beta, x, scales, stream);
    if (shear != 0) some.backward(alpha, y.part(field.parts() - 2), 1, x, {&shear, 1}, stream);
  }
};

std::span<const float> used(const Space& volume, const std::array<float, 3>& scales) {
  return std::span(scales).last(axes_of(volume));
}

}  // namespace

LinearOperator gradient(const Space& volume, std::array<float, 3> scales, float shear) {
  if (volume.is_portion()) return rank_gradient(Comm::world(), volume, scales, shear);
  Gradient whole(volume, used(volume, scales), shear);
  if (volume.shares() == 1) return whole;
  require<SpaceError>(volume.spread() == Spread::copied, "gradient: the volume is split over ",
                      volume.device().name(), "; each device needs all of it");
  std::vector<LinearOperator> of_members;
  for (int k = 0; k < volume.shares(); ++k) of_members.push_back(gradient(volume.share(k), scales, shear));
  return team_operator(volume, whole.field, std::move(of_members));
}

double gradient_norm_squared(const Space& volume, std::array<float, 3> scales, float shear) {
  double sum = 0;
  scales[1] = std::abs(scales[1]) + std::abs(shear);
  for (const float scale : used(volume, scales)) sum += double{scale} * scale;
  return 4 * sum;
}

/// The squared length is that of (along, ratio across), a quadratic form of the differences (y, x), in its
/// factors of Cholesky.
Direction across(double angle, double ratio, std::array<float, 3> scales) {
  const auto [z, y, x] = scales;
  const double c = std::cos(angle), s = std::sin(angle), more = ratio * ratio;
  const double of_y = std::sqrt(s * s + more * c * c), mixed = c * s * (1 - more) / of_y;
  const double of_x = std::sqrt(std::max(0.0, c * c + more * s * s - mixed * mixed));
  return {{z, static_cast<float>(y * of_y), static_cast<float>(x * of_x)}, static_cast<float>(x * mixed)};
}

void clamp_lengths(VectorView field, const Scalars& scalars, Stream& stream) {
  const std::span<const float> longest = scalars;
  require<SpaceError>(longest.size() == 1 || std::ssize(longest) == field.space.block_count(),
                      "clamp_lengths: ", longest.size(), " lengths for ", field.space.block_count(),
                      " blocks; give one, or one per block");
  for (int k = 0; k < field.space.shares() && field.space.size() > 0; ++k)
    kernels::differences(field.space.device().member(k))
        .clamp_lengths(field.share(k), longest, stream.member(k));
}

std::vector<double> sum_lengths(ConstVectorView field, Stream& stream) {
  std::vector<double> sums(field.space.block_count());
  if (field.space.size() > 0)
    sum_over_shares(field.space, std::span(sums), [&](int k, std::span<double> of_share) {
      kernels::differences(field.space.device().member(k))
          .sum_lengths(field.share(k), of_share, stream.member(k));
    });
  sum_over_ranks(field.space, std::span(sums));
  return sums;
}

}  // namespace tandem
