#include "../circles.hpp"

#include <array>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "tables.hpp"

namespace tandem::kernels::cpu {

namespace {

/// The ramp of each row, or one for all: lines of several views of one row are filtered together.
std::vector<RowFilter> ramps_of(const Circles& how) {
  std::vector<RowFilter> all(std::max<std::size_t>(how.ramp.row_shifts.size(), 1), how.ramp);
  for (std::size_t row = 0; row < how.ramp.row_shifts.size(); ++row)
    all[row].row_shifts = {how.ramp.row_shifts[row]};
  return all;
}

struct Adding {
  const Circles& how;
  CircleRows at;
  float alpha;
  Image<const float> in;
  Image<float> out;

  /// The tails of some views that have any, one after another; and these views.
  std::vector<Index> tails(Index row, Range views, Image<float> lines) const {
    std::vector<Index> open;
    for (Index view = views.first; view < views.last; ++view) {
      const auto tail = [&](int end) {
        return at.tail(at.sums(&in(view, row, 0), row, end, 0, 1), view, row, end);
      };
      const std::array both{tail(low_end), tail(high_end)};
      if (!both[low_end].open() && !both[high_end].open()) continue;
      for (Index k = 0; k < lines.n2; ++k) lines(std::ssize(open), 0, k) = at.more(both.data(), row, k);
      open.push_back(view);
    }
    return open;
  }

  void add(const RowFilter& ramp, Index row, Range views, Stream& stream) const {
    const FilterSide& side = at.sides.out;
    Array lines(Space({views.size(), 1, side.cells_a_row}));
    Image<float> some = image(VectorView(lines));
    const std::vector<Index> open = tails(row, views, some);
    if (open.empty()) return;
    some.n0 = std::ssize(open);
    filter_rows(ramp, false, 1, {some.data, some.n0, 1, some.n2, some.s0, some.s1}, 0, some, stream);
    const Range like = side.like(row);
    for (Index i = 0; i < some.n0; ++i)
      for (Index to = like.first; to < like.last; ++to)
        for (Index b = 0; b < side.bins; ++b)
          out(open[i], to, b) += alpha * how.usual.view_weights[open[i]] * side.weight(open[i], to, b) *
                                 some(i, 0, side.first + b);
  }
};

}  // namespace

void add_circles(const Circles& how, float alpha, Image<const float> in, Image<float> out, Stream& stream) {
  constexpr Index at_once = 64;
  const auto data = [](const auto& all) { return all.empty() ? nullptr : all.data(); };
  const auto ramps = how.kept.use<std::vector<RowFilter>>(
      stream, [&](const KeptOnDevices::Streams&) { return ramps_of(how); });
  const Adding adding{how,
                      rows_of(how, {in.n0, in.n1, in.n2}, {out.n0, out.n1, out.n2},
                              {data(how.usual.ray_weights), data(how.usual.beyond.shares), data(how.shares),
                               data(how.cosines), data(how.taper)}),
                      alpha, in, out};
  const Index blocks = ceil_div(in.n0, at_once);
  parallel_for(in.n1 * blocks, [&](Index i) {
    const Index row = i / blocks, first = i % blocks * at_once;
    adding.add((*ramps)[ramps->size() == 1 ? 0 : row], row, {first, std::min(in.n0, first + at_once)},
               stream);
  });
}

}  // namespace tandem::kernels::cpu
