#pragma once

// Transmissions of tomopy's normalize, normalize_nf and normalize_bg, against any way to make them of counts:
// transmissions(counts, reference, how, space) is an Array on the CPU, as of `on_the_cpu`.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "../../counts/preprocess.hpp"
#include "memory_reader.hpp"
#include "npy.hpp"
#include "numpy.hpp"

namespace tandem::test {

inline Array on_the_cpu(const io::FramesView& counts, const pipeline::Reference& reference,
                        const pipeline::Preprocessing& how, const Space& space) {
  pipeline::Findings findings;
  return pipeline::preprocess(counts, reference, how, space, findings).y;
}

inline Shape shape_of(const Npy& a) { return {a.shape[0], a.shape[1], a.shape[2]}; }

/// The floor of 1e-6 is left out: cells at it are dead here.
struct NormalizeCase {
  Npy views, flats, darks, expected;
  pipeline::StepValues values{};
  std::vector<double> flat_times{};  ///< views are at 0, 1, 2, ...; empty: not known
  double cutoff = INFINITY;

  ReferencesInMemory reader() const {
    ReferencesInMemory in(floats(shape_of(flats), flats.floats()), floats(shape_of(darks), darks.floats()));
    std::vector<double> places(static_cast<std::size_t>(views.shape[0]));
    std::iota(places.begin(), places.end(), 0.0);
    if (!flat_times.empty()) in.info_to_change().times = {places, flat_times};
    return in;
  }
};

inline NormalizeCase normalize_case(const char* views, const char* flats, const char* darks,
                                    const char* expected) {
  const auto read = [](const char* name) {
    return read_npy(vectors_folder() / (std::string(name) + ".npy"));
  };
  return {read(views), read(flats), read(darks), read(expected)};
}

/// Cases of normalize (the mean of all flats) and of normalize_nf (medians of groups of flats, where a view
/// takes the nearest group). tomopy rounds the middle between two groups to an even number of views. So in
/// the third case it gives view 3 to the second group, at view 6, though the first one, at view 1, is nearer.
/// In this case the flats are put between views.
inline std::vector<NormalizeCase> normalize_cases() {
  const char* nearest = "normalize_nf_tomo";
  std::vector<NormalizeCase> all{
      normalize_case("tomopy_test_tomo", "tomopy_test_flat", "tomopy_test_dark", "tomopy_test_normalize"),
      normalize_case(nearest, "normalize_nf_flatsA", "normalize_nf_dark", "tomopy_normalize_nf_A"),
      normalize_case(nearest, "normalize_nf_flatsB", "normalize_nf_dark", "tomopy_normalize_nf_B"),
      normalize_case(nearest, "normalize_nf_flatsM", "normalize_nf_dark3", "tomopy_normalize_nf_median")};
  for (std::size_t k = 1; k < all.size(); ++k)
    all[k].values = {{"flat-sets", "nearest"}, {"flat-method", "median"}};
  all[1].flat_times = all[3].flat_times = {0, 0, 7, 7};
  all[2].flat_times = {0.5, 0.5, 0.5, 5.5, 5.5, 5.5}, all[2].cutoff = 1.5;
  all[3].values.insert({"dark-method", "median"});
  return all;
}

template <class Transmissions>
void expect_tomopys_normalize(const Transmissions& transmissions) {
  for (NormalizeCase& c : normalize_cases()) {
    const Shape all = shape_of(c.views);
    c.values.insert({"minus-log", false});
    const pipeline::Preprocessing how = pipeline::preprocessing_of(c.values, {0, all[2]}, 0);
    ReferencesInMemory in = c.reader();
    const pipeline::Reference reference = pipeline::read_reference(in, {0, all[1]}, {0, all[2]}, how);
    const Array y = transmissions(floats(all, c.views.floats()), reference, how, Space(all, Blocks::rows));
    std::size_t compared = 0;
    for (std::size_t i = 0; i < c.expected.values.size(); ++i) {
      if (reference.sets[0].span[i % reference.dark.size()] == 0) continue;
      const double found = std::min(c.cutoff, double{y.data()[i]}), due = c.expected.values[i];
      EXPECT_NEAR(found, due, 1e-6 * std::max(1.0, std::abs(due))) << i;
      ++compared;
    }
    EXPECT_GT(compared, c.expected.values.size() * 3 / 4);
  }
}

/// tomopy puts the means of both margins at the ends of the row. Margins of one bin lie there. With wider
/// ones its line is another one, in a way that is known.
template <class Transmissions>
void expect_tomopys_normalize_bg(const Transmissions& transmissions) {
  const Npy input = read_npy(vectors_folder() / "normalize_bg_input.npy");
  const Shape shape = shape_of(input);
  const auto last = static_cast<std::size_t>(shape[2]) - 1;
  for (const Index width : {1, 4}) {
    ReferencesInMemory reader(floats({0, 1, shape[2]}, {}), floats({0, 1, shape[2]}, {}));
    const pipeline::Preprocessing how{.air_bins = {Range{0, width}, Range{shape[2] - width, shape[2]}},
                                      .keeps_transmissions = true};
    const Array y = transmissions(floats(shape, input.floats()),
                                  pipeline::read_reference(reader, {0, shape[1]}, {0, shape[2]}, how), how,
                                  Space(shape, Blocks::rows));
    const Npy expected =
        read_npy(vectors_folder() / ("tomopy_normalize_bg_air" + std::to_string(width) + ".npy"));
    const double inner = 0.5 * static_cast<double>(width - 1);  // how far inwards the middle of a margin is
    for (std::size_t row = 0; row < input.values.size(); row += last + 1) {
      const double* in = &input.values[row];
      const double left = std::accumulate(in, in + width, 0.0) / static_cast<double>(width),
                   right = std::accumulate(in + last + 1 - width, in + last + 1, 0.0) /
                           static_cast<double>(width);
      for (std::size_t b = 0; b <= last; ++b) {
        const auto at = static_cast<double>(b), end = static_cast<double>(last);
        const double ours = left + (right - left) * (at - inner) / (end - 2 * inner),
                     theirs = left + (right - left) * at / end;
        EXPECT_NEAR(y.data()[row + b] * ours / theirs, expected.values[row + b], 1e-6) << width;
      }
    }
  }
}

}  // namespace tandem::test
