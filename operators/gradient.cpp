#include "gradient.hpp"

#include "../core/error.hpp"
#include "../kernels/differences.hpp"

namespace tandem {

namespace {

/// How many axes have differences.
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
  return std::span(scales).last(static_cast<std::size_t>(axes_of(volume)));
}

}  // namespace

LinearOperator gradient(const Space& volume, std::array<float, 3> scales) {
  return Gradient(volume, used(volume, scales));
}

double gradient_norm_squared(const Space& volume, std::array<float, 3> scales) {
  double sum = 0;
  for (const float scale : used(volume, scales))
    sum += static_cast<double>(scale) * static_cast<double>(scale);
  return 4 * sum;
}

void clamp_lengths(VectorView field, std::span<const float> longest, Stream& stream) {
  require<SpaceError>(
      longest.size() == 1 || longest.size() == static_cast<std::size_t>(field.space.block_count()),
      "clamp_lengths: ", longest.size(), " lengths for ", field.space.block_count(),
      " blocks; give one, or one per block");
  kernels::differences(field.space.device()).clamp_lengths(field, longest, stream);
}

std::vector<double> sum_lengths(ConstVectorView field, Stream& stream) {
  std::vector<double> sums(static_cast<std::size_t>(field.space.block_count()));
  kernels::differences(field.space.device()).sum_lengths(field, sums, stream);
  return sums;
}

}  // namespace tandem
