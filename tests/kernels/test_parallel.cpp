#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "../../core/parallel.hpp"
#include "../../kernels/parallel.hpp"
#include "../../operators/random.hpp"
#include "../support/scans.hpp"
#include "../support/tolerances.hpp"

namespace tandem {
namespace {

constexpr Model models[] = {Model::pixel_driven, Model::joseph};
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// A volume and the projections that go with it, both with all slices.
struct Pair {
  ParallelBeam scan;
  VolumeGrid grid;
  Array volume, projections;

  Pair(ParallelBeam s, VolumeGrid g, Random& random)
      : scan(std::move(s)),
        grid(g),
        volume(uniform_array(Space(g.shape()), random)),
        projections(uniform_array(Space({views(), rows(), scan.detector.bins}), random)) {}

  Index views() const { return views_of(scan); }
  Index rows() const { return scan.detector.rows; }
};

/// Slices `part` of a volume, as a view into it.
Image<const float> slices(const Array& volume, Range part) {
  Image<const float> v = image(ConstVectorView(volume));
  return {v.data + part.first * v.s0, part.size(), v.n1, v.n2, v.s0, v.s1};
}

/// Rows `part` of projections, as a view into them: strided.
Image<const float> rows(const Array& projections, Range part) {
  Image<const float> p = image(ConstVectorView(projections));
  return {p.data + part.first * p.s1, p.n0, part.size(), p.n2, p.s0, p.s1};
}

template <class T>
Image<T> writable(Image<const T> from, Array& base) {
  return {base.data() + (from.data - base.data()), from.n0, from.n1, from.n2, from.s0, from.s1};
}

/// Forward and backward results made in the parts that `ends` cut the slices into.
struct Results {
  Array projections, volume;
};

Results in_parts(const Pair& pair, Model model, const std::vector<Index>& ends) {
  Results out{Array(pair.projections.space()), Array(pair.volume.space())};
  const kernels::ParallelVariant& kernels = kernels::parallel(Device::cpu()).front();
  const Execution how{"standard"};
  Stream& stream = default_stream(Device::cpu());
  Index first = 0;
  for (Index last : ends) {
    const Range part{first, last};
    const ParallelViews views =
        pack(test::with_rows(pair.scan, part.size()), test::with_slices(pair.grid, part.size()), model);
    kernels.forward(views, how, 0.7f, slices(pair.volume, part), 0,
                    writable(rows(out.projections, part), out.projections), stream);
    kernels.backward(views, how, 0.7f, rows(pair.projections, part), 0,
                     writable(slices(out.volume, part), out.volume), stream);
    first = last;
  }
  return out;
}

bool same_bits(const Array& a, const Array& b) {
  return std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

void expect_same(const Results& a, const Results& b) {
  EXPECT_TRUE(same_bits(a.projections, b.projections)) << "forward";
  EXPECT_TRUE(same_bits(a.volume, b.volume)) << "backward";
}

std::vector<Index> one_by_one(Index count) {
  std::vector<Index> ends;
  for (Index i = 1; i <= count; ++i) ends.push_back(i);
  return ends;
}

TEST(ParallelKernels, GiveTheSameBitsForEveryNumberOfSlicesAtOnce) {
  Random random(3);
  for (Model model : models)
    for (double pitch : {1.0, 2.3}) {
      const Pair pair(test::scan_of(7, 67, 41, 1.0), test::grid_of(19, 23, 67, pitch), random);
      const Results alone = in_parts(pair, model, one_by_one(67));
      for (Index count = 2; count <= 67; ++count) {
        SCOPED_TRACE(count);
        std::vector<Index> ends;
        for (Index end = count; end < 67; end += count) ends.push_back(end);
        ends.push_back(67);
        expect_same(alone, in_parts(pair, model, ends));
      }
    }
}

TEST(ParallelKernels, GiveTheSameBitsForAnySplit) {
  Random random(5);
  const Pair pair(test::scan_of(11, 67, 29), test::grid_of(17, 37, 67), random);
  const Results alone = in_parts(pair, Model::joseph, one_by_one(67));
  for (int trial = 0; trial < 10; ++trial) {
    std::vector<Index> ends;
    for (Index end = 0; end < 67;) ends.push_back(end = std::min<Index>(67, end + 1 + random.bits() % 40));
    expect_same(alone, in_parts(pair, Model::joseph, ends));
  }
}

TEST(ParallelKernels, GiveTheSameBitsForEveryNumberOfThreads) {
  Random random(7);
  for (Model model : models) {
    const Pair pair(test::scan_of(53, 5, 47), test::grid_of(37, 41, 5), random);
    const Results all = in_parts(pair, model, {5});
    const ThreadLimit one(1);
    expect_same(all, in_parts(pair, model, {5}));
  }
}

TEST(ParallelKernels, GiveTheSameBitsForEverySubsetOfViewsAndEveryRun) {
  Random random(9);
  const Pair pair(test::scan_of(53, 2, 47), test::grid_of(37, 41, 2), random);
  const Results all = in_parts(pair, Model::joseph, {2});
  for (Index first : {0, 1, 50}) {
    Pair some(crop(pair.scan, {first, first + 3}, {0, 2}, {0, 47}), pair.grid, random);
    some.volume = pair.volume.clone();
    const Results part = in_parts(some, Model::joseph, {2});
    EXPECT_EQ(std::memcmp(part.projections.data(), all.projections.data() + first * 2 * 47,
                          3 * 2 * 47 * sizeof(float)),
              0);
  }
}

/// An array with gaps between lines and planes, which hold NaN and must stay as they are.
struct Gapped {
  Array memory;
  Image<float> view;
  explicit Gapped(Shape n)
      : memory(Space({n[0], n[1] + 2, n[2] + 3})), view{memory.data(),           n[0],    n[1], n[2],
                                                        (n[1] + 2) * (n[2] + 3), n[2] + 3} {
    std::fill_n(memory.data(), memory.size(), nan);
  }
  Index gaps() const {
    return std::count_if(memory.data(), memory.data() + memory.size(), [](float v) { return std::isnan(v); });
  }
  Index expected_gaps() const { return memory.size() - view.n0 * view.n1 * view.n2; }
};

void copy(Image<const float> from, Image<float> to) {
  for (Index i = 0; i < from.n0; ++i)
    for (Index j = 0; j < from.n1; ++j) std::copy_n(&from(i, j, 0), from.n2, &to(i, j, 0));
}

void expect_equal(Image<const float> a, Image<const float> b) {
  for (Index i = 0; i < a.n0; ++i)
    for (Index j = 0; j < a.n1; ++j)
      for (Index k = 0; k < a.n2; ++k) ASSERT_EQ(a(i, j, k), b(i, j, k)) << i << ' ' << j << ' ' << k;
}

TEST(ParallelKernels, FollowStridesAndTouchNothingBetween) {
  Random random(13);
  for (Index count : {1, 2, 3, 7}) {
    const Pair pair(test::scan_of(5, count, 31), test::grid_of(19, 17, count), random);
    const Results dense = in_parts(pair, Model::joseph, {count});
    Gapped volume({count, 17, 19}), projections({5, count, 31}), forward({5, count, 31}),
        backward({count, 17, 19});
    copy(image(ConstVectorView(pair.volume)), volume.view);
    copy(image(ConstVectorView(pair.projections)), projections.view);
    const auto constant = [](Image<float> v) {
      return Image<const float>{v.data, v.n0, v.n1, v.n2, v.s0, v.s1};
    };
    const ParallelViews views = pack(pair.scan, pair.grid, Model::joseph);
    Stream& stream = default_stream(Device::cpu());
    const Execution how{"standard"};
    const kernels::ParallelVariant& kernels = kernels::parallel(Device::cpu()).front();
    kernels.forward(views, how, 0.7f, constant(volume.view), 0, forward.view, stream);
    kernels.backward(views, how, 0.7f, constant(projections.view), 0, backward.view, stream);
    expect_equal(constant(forward.view), image(ConstVectorView(dense.projections)));
    expect_equal(constant(backward.view), image(ConstVectorView(dense.volume)));
    EXPECT_EQ(forward.gaps(), forward.expected_gaps());
    EXPECT_EQ(backward.gaps(), backward.expected_gaps());
  }
}

TEST(ParallelKernels, KeepANanInItsSlice) {
  Random random(17);
  Pair pair(test::scan_of(7, 5, 31), test::grid_of(19, 17, 5), random);
  const Results clean = in_parts(pair, Model::joseph, {5});
  std::fill_n(pair.volume.data() + 2 * 19 * 17, 19 * 17, nan);
  for (Index v = 0; v < 7; ++v) std::fill_n(pair.projections.data() + (v * 5 + 2) * 31, 31, nan);
  const Results spoilt = in_parts(pair, Model::joseph, {5});
  for (Index k : {0, 1, 3, 4}) {
    expect_equal(rows(clean.projections, {k, k + 1}), rows(spoilt.projections, {k, k + 1}));
    expect_equal(slices(clean.volume, {k, k + 1}), slices(spoilt.volume, {k, k + 1}));
  }
}

}  // namespace
}  // namespace tandem
