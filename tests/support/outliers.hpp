#pragma once

// What tomopy makes of frames with outliers, element by element.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "axes.hpp"
#include "npy.hpp"
#include "numpy.hpp"

namespace tandem::test {

/// Frames (view, row, bin) without outliers, by a window ("row", "projection", "cube") of a size.
using Dezinger =
    std::function<std::vector<float>(const std::vector<float>& frames, Shape n, const std::string& window,
                                     const std::string& sign, Index size, double threshold)>;

/// Six cases of (threshold, size, axis): by images along the axis, and by rows.
inline void expect_tomopys_outliers(const Dezinger& dezinger) {
  const Npy params = read_npy(vectors_folder() / "remove_outlier_params.npy");
  for (const bool rows : {false, true}) {
    const std::string name = rows ? "remove_outlier1d" : "remove_outlier";
    const Npy input = read_npy(vectors_folder() / (name + "_input.npy")),
              output = read_npy(vectors_folder() / (name + "_output.npy"));
    const std::vector<float> in = input.floats(), out = output.floats();
    const Shape n{input.shape[1], input.shape[2], input.shape[3]};
    const std::ptrdiff_t size = n[0] * n[1] * n[2];
    int cases = 0;
    for (std::ptrdiff_t c = 0; c < 6; ++c) {
      const double* of_case = &params.values[static_cast<std::size_t>(3 * c)];
      const int along = static_cast<int>(of_case[2]), axis = rows ? 0 : along;
      if (rows && along != 2) continue;
      const auto frames_of = [&](const std::vector<float>& all) {
        return axis_first({all.begin() + c * size, all.begin() + (c + 1) * size}, n, axis);
      };
      const std::vector<float> frames = frames_of(in), due = frames_of(out);
      EXPECT_EQ(dezinger(frames, with_axis_first(n, axis), rows ? "row" : "projection", "bright",
                         static_cast<Index>(of_case[1]), of_case[0]),
                due)
          << name << c;
      EXPECT_NE(frames, due) << name << c;
      ++cases;
    }
    EXPECT_GE(cases, rows ? 1 : 6);
  }
}

/// A threshold near zero on both sides leaves the median itself.
inline void expect_tomopys_medians(const Dezinger& dezinger) {
  const std::vector<float> spikes = vector_of("rankfilter_input");
  const auto expect_cubes = [&](Index size, double threshold, const std::string& output) {
    EXPECT_EQ(dezinger(spikes, {12, 20, 24}, "cube", "both", size, threshold), vector_of(output)) << output;
  };
  expect_cubes(3, 1e-30, "tomopy_median3");
  expect_cubes(5, 1e-30, "tomopy_median5");
  expect_cubes(3, 0.5, "tomopy_dezinger_small");
}

}  // namespace tandem::test
