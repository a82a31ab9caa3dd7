#include "gradient.hpp"

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

  Gradient(const Space& v, std::span<const float> s)
      : volume(v), field(Space::direct_sum(std::vector<Space>(s.size(), v))), scales(s.begin(), s.end()) {}
  Space domain() const { return volume; }
  Space range() const { return field; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    kernels::differences(volume.device()).forward(alpha, x, beta, y, scales, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    kernels::differences(volume.device()).backward(alpha, y, beta, x, scales, stream);
  }
};

std::span<const float> used(const Space& volume, const std::array<float, 3>& scales) {
  return std::span(scales).last(axes_of(volume));
}

}  // namespace

LinearOperator gradient(const Space& volume, std::array<float, 3> scales) {
  if (volume.is_portion()) return rank_gradient(Comm::world(), volume, scales);
  Gradient whole(volume, used(volume, scales));
  if (volume.shares() == 1) return whole;
  require<SpaceError>(volume.spread() == Spread::copied, "gradient: the volume is split over ",
                      volume.device().name(), "; each device needs all of it");
  std::vector<LinearOperator> of_members;
  for (int k = 0; k < volume.shares(); ++k) of_members.push_back(gradient(volume.share(k), scales));
  return team_operator(volume, whole.field, std::move(of_members));
}

double gradient_norm_squared(const Space& volume, std::array<float, 3> scales) {
  double sum = 0;
  for (const float scale : used(volume, scales)) sum += double{scale} * scale;
  return 4 * sum;
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
