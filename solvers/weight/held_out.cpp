#include "held_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "../../core/ceil_div.hpp"
#include "../../core/comm.hpp"
#include "../../core/parallel.hpp"
#include "../../core/random.hpp"
#include "../../core/rounding.hpp"

namespace tandem {

namespace {

struct Weights {
  Image<float> remain, others;
};

void split(const Weights& w, Index view, const Random& random, const Cells& cells, const WeightSearch& how,
           Index rows_together) {
  const Index across = ceil_div(cells.finest_bins, how.together);
  for (Index row = 0; row < w.remain.n1; ++row)
    for (Index bin = 0; bin < w.remain.n2; ++bin) {
      const Index patch = row * cells.rows / rows_together * across + bin * cells.bins / how.together;
      const bool out = random.at(patch).uniform() < how.share;
      float& weight = w.remain(view, row, bin);
      w.others(view, row, bin) = out ? std::sqrt(weight) : 0;
      if (out) weight = 0;
    }
}

/// The values factor |misfit| where the factor is not zero. If all ranks together have many data, it takes
/// every 2nd, or every 3rd, ...
std::vector<float> some_errors(const Array& factors, const Array& misfit) {
  constexpr Index enough = 1 << 24;
  const Space& space = factors.space();
  const auto [views, rows, bins] = space.shape();
  const Index step = 1 + space.whole().size() / enough, before = space.first_of_portion() * rows * bins;
  std::vector<float> errors;
  for (Index i = (step - before % step) % step; i < factors.size(); i += step)
    if (factors.data()[i] > 0) errors.push_back(factors.data()[i] * std::abs(misfit.data()[i]));
  return errors;
}

Mean trimmed_mean(std::vector<float> errors) {
  constexpr double kept = 0.75;
  const auto last = errors.begin() + floor_index(kept * errors.size());
  if (last == errors.begin()) return {};
  std::nth_element(errors.begin(), last, errors.end());
  const double count = last - errors.begin();
  const double mean = std::accumulate(errors.begin(), last, 0.0) / count;
  const double squares = std::accumulate(errors.begin(), last, 0.0,
                                         [](double sum, float error) { return sum + double{error} * error; });
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0) / count)};
}

}  // namespace

HeldOut::HeldOut(Array w, const Cells& cells, const WeightSearch& how)
    : weights(std::move(w)), only_others(weights.space()) {
  const Random random(how.seed);
  const Index first = weights.space().first_of_portion();
  const Index rows_together = weights.space().block_count() == 1 ? how.together : 1;
  const Weights both{image(VectorView(weights)), image(VectorView(only_others))};
  parallel_for(both.remain.n0,
               [&](Index view) { split(both, view, random.at(first + view), cells, how, rows_together); });
}

Mean trimmed_mean(const Array& factors, const Array& misfit) {
  std::vector<float> own = some_errors(factors, misfit);
  if (!factors.space().is_portion()) return trimmed_mean(std::move(own));
  const Comm ranks = Comm::world();
  const Mean of_first = trimmed_mean(ranks.gather(own));  // only the first rank gets all
  std::array both{of_first.value, of_first.standard_error};
  ranks.all_reduce(both);
  return {both[0], both[1]};
}

}  // namespace tandem
