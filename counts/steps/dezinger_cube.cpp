#include <algorithm>
#include <numeric>

#include "../pixels.hpp"
#include "dezinger.hpp"

namespace tandem::pipeline::step {

namespace {

constexpr auto cube = Dezinger::Window::cube;

/// The counts of one view, row by row.
std::vector<float> numbers_of(const io::FramesView& counts, Index view) {
  const auto [views, rows, bins] = counts.shape;
  std::vector<float> numbers(static_cast<std::size_t>(rows * bins));
  with_pixels(counts, [&, rows = rows, bins = bins](const auto* pixels) {
    for (Index r = 0; r < rows; ++r)
      std::copy_n(pixels + view * counts.frame_step + r * counts.row_step, bins, numbers.data() + r * bins);
  });
  return numbers;
}

ProjectionWork dezinger_in_cube(const Preprocessing& how) {
  const auto asked = dezinger_of(how, cube);
  if (!asked) return {};
  return [asked = *asked](Projection& view) {
    const Index views = view.counts.shape[0], half = asked.frames() / 2;
    std::vector<std::vector<float>> frames;
    std::vector<const float*> planes;
    for (Index v = view.view - half; v <= view.view + half; ++v) {
      frames.push_back(numbers_of(view.counts, bin_within(v, views, view.view, asked.rule.border)));
      planes.push_back(frames.back().data());
    }
    std::vector<Index> replaced(static_cast<std::size_t>(view.y.n1), 0);
    dezinger(asked, view.y, 0, planes, replaced);
    return std::accumulate(replaced.begin() + view.kept.first, replaced.begin() + view.kept.last, Index{0});
  };
}

double cube_bytes_a_thread(const Preprocessing& how, Shape frame) {
  const auto asked = dezinger_of(how, cube);
  return asked ? 4.0 * static_cast<double>(asked->frames() * frame[1] * frame[2] << (2 * how.binning)) : 0;
}

}  // namespace

Step dezinger_cube() {
  return {.name = "dezinger-cube",
          .help = "the same with a window of bins, rows and views (--dezinger-window cube)",
          .before_binning = true,
          .needs_all_views = true,
          .on_gpu = [](const Preprocessing& how) { return dezinger_on_gpu(how, cube); },
          .on_projection = dezinger_in_cube,
          .on_references = [](const Preprocessing& how) { return dezinger_references(how, cube); },
          .margin = [](const Preprocessing& how) { return margin_of(how, cube); },
          .bytes_a_thread = cube_bytes_a_thread};
}

}  // namespace tandem::pipeline::step
