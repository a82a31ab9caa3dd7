#include "bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../core/error.hpp"
#include "../operators/gradient.hpp"
#include "../operators/vector.hpp"
#include "checks.hpp"

namespace tandem {

namespace {

constexpr float no_end = std::numeric_limits<float>::infinity();

bool has_one_for_each(const Bounds& bounds) { return bounds.lowest_of_each || bounds.highest_of_each; }

/// Writes an end, one value for each voxel, times a factor.
void write_end(const std::shared_ptr<const Array>& each, float for_all, float factor, Array& to,
               Stream& stream) {
  if (each)
    axpby(factor, *each, 0, to, stream);
  else
    fill(to, factor * for_all, stream);
}

/// Sums over elements of z that have an end, times that, and over squares of those that have none.
struct Sides {
  std::vector<double> held, free;
};

/// `z`: from 0 on. `each`: the ends times a factor, which are least ones.
Sides products(const Array& z, const Array& each, float factor, Stream& stream) {
  constexpr float far = 0x1p60f;  // a power of two, so that what has no end becomes zero exactly
  Array ends(z.space(), stream), free(z.space(), stream);
  axpby(factor, each, 0, ends, stream);
  clamp_below(ends, -far, stream);
  axpby(-1 / far, ends, 0, free, stream);
  clamp_below(free, 0, stream);  // 1 where there is no end, else about 0
  multiply(ends, free, stream);
  axpby(-1, free, 1, ends, stream);
  Sides sums{dot(ends, z, stream), {}};
  multiply(z, free, stream);
  sums.free = dot(free, free, stream);
  for (double& sum : sums.free) sum /= double{far} * double{far};
  return sums;
}

Sides products(const Array& z, float for_all, Stream& stream) {
  if (!std::isfinite(for_all)) {
    Sides sums{{}, dot(z, z, stream)};
    sums.held.assign(sums.free.size(), 0.0);
    return sums;
  }
  Sides sums{sum_lengths(z, stream), {}};
  for (double& sum : sums.held) sum *= for_all;
  sums.free.assign(sums.held.size(), 0.0);
  return sums;
}

}  // namespace

bool have_ends(const Bounds& bounds) {
  return has_one_for_each(bounds) || bounds.lowest > -no_end || bounds.highest < no_end;
}

void validate(const Bounds& bounds) {
  if (!has_one_for_each(bounds)) {
    require<GeometryError>(bounds.lowest < bounds.highest, "bounds: ", bounds.lowest, " to ", bounds.highest,
                           "; the lowest value must be below the highest");
    return;
  }
  const Space& space = (bounds.lowest_of_each ? bounds.lowest_of_each : bounds.highest_of_each)->space();
  Stream& stream = default_stream(space.device());
  Array between(space, stream), scratch(space, stream);
  write_end(bounds.highest_of_each, bounds.highest, 1, between, stream);
  write_end(bounds.lowest_of_each, bounds.lowest, -1, scratch, stream);
  axpby(1, scratch, 1, between, stream);
  clamp(between, {.highest = 1}, stream);  // since infinity is right
  require_none_negative(between, scratch, "bounds: the highest less the lowest values", stream);
}

void require_finite_lowest(const Bounds& bounds, const char* solver) {
  if (!bounds.lowest_of_each) {
    require<GeometryError>(std::isfinite(bounds.lowest), solver, ": lowest bound ", bounds.lowest,
                           "; a finite number is needed");
    return;
  }
  Stream& stream = default_stream(bounds.lowest_of_each->space().device());
  const std::vector<Index> missing = count_not_finite(*bounds.lowest_of_each, stream);
  const Index sum = std::accumulate(missing.begin(), missing.end(), Index{0});
  require<GeometryError>(sum == 0, solver, ": ", sum,
                         " voxels have no lowest bound; finite numbers are needed");
}

void clamp(VectorView x, const Bounds& bounds, Stream& stream) {
  if (!has_one_for_each(bounds)) validate(bounds);
  if (bounds.lowest_of_each)
    clamp_each(*bounds.lowest_of_each, false, x, stream);
  else if (bounds.lowest > -no_end)
    clamp_below(x, bounds.lowest, stream);
  if (bounds.highest_of_each) return clamp_each(*bounds.highest_of_each, true, x, stream);
  if (bounds.highest == no_end) return;
  axpby(-1, x, 0, x, stream);
  clamp_below(x, -bounds.highest, stream);
  axpby(-1, x, 0, x, stream);
}

/// An element above zero makes the product least at its lowest value, another one at its highest.
std::vector<double> least_products(const Array& z, const Bounds& bounds, const std::vector<double>& lengths,
                                   Stream& stream) {
  Array side(z.space(), stream);
  const auto of_side = [&](float sign, const std::shared_ptr<const Array>& each, float for_all) {
    axpby(sign, z, 0, side, stream);
    clamp_below(side, 0, stream);
    return each ? products(side, *each, sign, stream) : products(side, sign * for_all, stream);
  };
  const Sides above = of_side(1, bounds.lowest_of_each, bounds.lowest),
              below = of_side(-1, bounds.highest_of_each, bounds.highest);
  std::vector<double> least(lengths.size());
  for (std::size_t k = 0; k < least.size(); ++k)
    least[k] = above.held[k] + below.held[k] - lengths[k] * std::sqrt(above.free[k] + below.free[k]);
  return least;
}

}  // namespace tandem
