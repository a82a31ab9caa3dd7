#include "median_fill.hpp"

#include <algorithm>

namespace tandem::pipeline {

namespace {

struct Filled {
  Index row, bin;
  float value;
};

/// The good pixels in the window of `size` around one.
void gather(std::pair<Index, Index> frame, std::span<const Pixel> marks, Index row, Index bin, Index size,
            std::vector<Index>& good) {
  const auto [rows, bins] = frame;
  good.clear();
  for (Index r = std::max<Index>(0, row - size / 2); r <= std::min(rows - 1, row + size / 2); ++r)
    for (Index b = std::max<Index>(0, bin - size / 2); b <= std::min(bins - 1, bin + size / 2); ++b)
      if (marks[r * bins + b] == Pixel::good) good.push_back(r * bins + b);
}

float median(std::vector<float>& values) {
  const auto middle = values.begin() + values.size() / 2;
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return 0.5f * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

void for_each_fill(std::pair<Index, Index> frame, std::span<const Pixel> marks, FillWindow window,
                   const std::function<void(Index, Index, const std::vector<Index>&)>& use) {
  std::vector<Index> good;
  for (Index r = 0; r < frame.first; ++r)
    for (Index b = 0; b < frame.second; ++b) {
      if (marks[r * frame.second + b] != Pixel::bad) continue;
      for (Index size = window.first; size <= window.last; size += 2) {
        gather(frame, marks, r, b, size, good);
        if (good.empty()) continue;
        use(r, b, good);
        break;
      }
    }
}

std::vector<Index> median_fill(const Image<float>& image, std::span<Pixel> marks, FillWindow window) {
  std::vector<Index> count(image.n1, 0);
  std::vector<Filled> filled;
  std::vector<float> values;
  for_each_fill({image.n1, image.n2}, marks, window, [&](Index r, Index b, const std::vector<Index>& good) {
    values.clear();
    for (const Index place : good) values.push_back(image(0, place / image.n2, place % image.n2));
    filled.push_back({r, b, median(values)});
  });
  for (const auto& [r, b, value] : filled) {
    image(0, r, b) = value;
    marks[r * image.n2 + b] = Pixel::good;
    ++count[r];
  }
  return count;
}

}  // namespace tandem::pipeline
