#include <numeric>

#include "dezinger.hpp"

namespace tandem::pipeline::step {

namespace {

constexpr auto square = Dezinger::Window::projection;

ProjectionWork dezinger_in_square(const Preprocessing& how) {
  const auto asked = dezinger_of(how, square);
  if (!asked) return {};
  return [asked = *asked](Projection& view) {
    const Image<float>& y = view.y;
    const std::vector<float> as_it_came(y.data, y.data + y.n1 * y.n2);
    const float* const plane = as_it_came.data();
    std::vector<Index> replaced(static_cast<std::size_t>(y.n1), 0);
    dezinger(asked, y, 0, {&plane, 1}, replaced);
    return std::accumulate(replaced.begin() + view.kept.first, replaced.begin() + view.kept.last, Index{0});
  };
}

}  // namespace

Step dezinger_projection() {
  return {.name = "dezinger-projection",
          .help = "the same with a window of bins and rows (--dezinger-window projection)",
          .before_binning = true,
          .on_gpu = [](const Preprocessing& how) { return dezinger_on_gpu(how, square); },
          .on_projection = dezinger_in_square,
          .on_references = [](const Preprocessing& how) { return dezinger_references(how, square); },
          .margin = [](const Preprocessing& how) { return margin_of(how, square); }};
}

}  // namespace tandem::pipeline::step
