#include "median_fill.hpp"

#include <algorithm>

namespace tandem::pipeline {

namespace {

struct Filled {
  Index row, bin;
  float value;
};

/// The good pixels in the window of `size` around one.
void gather(const Image<float>& y, std::span<const Pixel> marks, Index row, Index bin, Index size,
            std::vector<float>& good) {
  good.clear();
  for (Index r = std::max<Index>(0, row - size / 2); r <= std::min(y.n1 - 1, row + size / 2); ++r)
    for (Index b = std::max<Index>(0, bin - size / 2); b <= std::min(y.n2 - 1, bin + size / 2); ++b)
      if (marks[static_cast<std::size_t>(r * y.n2 + b)] == Pixel::good) good.push_back(y(0, r, b));
}

float median(std::vector<float>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 == 1) return *middle;
  return 0.5f * (*middle + *std::max_element(values.begin(), middle));
}

}  // namespace

std::vector<Index> median_fill(const Image<float>& image, std::span<Pixel> marks, FillWindow window) {
  std::vector<Index> count(static_cast<std::size_t>(image.n1), 0);
  std::vector<Filled> filled;
  std::vector<float> good;
  for (Index r = 0; r < image.n1; ++r)
    for (Index b = 0; b < image.n2; ++b) {
      if (marks[static_cast<std::size_t>(r * image.n2 + b)] != Pixel::bad) continue;
      for (Index size = window.first; size <= window.last; size += 2) {
        gather(image, marks, r, b, size, good);
        if (good.empty()) continue;
        filled.push_back({r, b, median(good)});
        break;
      }
    }
  for (const auto& [r, b, value] : filled) {
    image(0, r, b) = value;
    marks[static_cast<std::size_t>(r * image.n2 + b)] = Pixel::good;
    ++count[static_cast<std::size_t>(r)];
  }
  return count;
}

}  // namespace tandem::pipeline
