#include "best_so_far.hpp"

#include <cmath>

namespace tandem {

namespace {

/// Copies some blocks of a share of a volume, in which blocks lie one after the other. It copies and does not
/// add, since other blocks may not be finite.
void copy_blocks(const std::vector<bool>& which, ConstVectorView from, VectorView to, Stream& stream) {
  const Index size = to.space.size() / std::ssize(which);
  for (std::size_t k = 0; k < which.size(); ++k) {
    const Index first = k * size;
    if (which[k])
      copy(Image<const float>{from.data + first, 1, 1, size, size, size},
           Image<float>{to.data + first, 1, 1, size, size, size}, stream);
  }
}

void copy_blocks(const std::vector<bool>& which, const Array& from, Array& to) {
  Stream& stream = default_stream(to.space().device());
  for (int k = 0; k < to.space().shares(); ++k)
    copy_blocks(which, ConstVectorView(from).share(k), VectorView(to).share(k), stream.member(k));
}

}  // namespace

BestSoFar::BestSoFar(const Space& volume) : best_(volume), least_(volume.block_count(), INFINITY) {}

void BestSoFar::look_at(const Progress& now) {
  std::vector<bool> better;
  for (std::size_t k = 0; k < least_.size(); ++k) {
    better.push_back(now.residuals[k] < least_[k]);
    if (better.back()) least_[k] = now.residuals[k];
  }
  copy_blocks(better, now.solution, best_);
}

void BestSoFar::replace(Array& solution, const std::vector<bool>& diverged) const {
  copy_blocks(diverged, best_, solution);
}

}  // namespace tandem
