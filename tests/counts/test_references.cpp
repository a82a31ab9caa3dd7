// Darks and flats: how frames become one, which flats serve which view, the monitor, and the noise of it all.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "../../core/error.hpp"
#include "../../core/random.hpp"
#include "../../counts/preprocess.hpp"
#include "../support/memory_reader.hpp"
#include "../support/normalized.hpp"
#include "../support/tolerances.hpp"

namespace tandem::pipeline {
namespace {

using test::floats;
using test::ReferencesInMemory;

Preprocessing with(const StepValues& values, bool minus_log = true, bool noise = false) {
  Preprocessing how = preprocessing_of(values, {0, 64}, 0, 1, noise);
  how.minus_log = minus_log;
  return how;
}

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const FileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

/// The views (view, row, bin) after all steps that are asked for.
LineIntegrals processed(ReferencesInMemory& reader, const io::FramesView& views, const Preprocessing& how) {
  const auto [count, rows, bins] = views.shape;
  const Reference reference = read_reference(reader, {0, rows}, {0, bins}, how);
  Findings findings;
  return preprocess(views, reference, how, Space({count, rows, bins}, Blocks::rows), findings);
}

TEST(Combining, TakesMeansOfWhatIsLeft) {
  const auto combination = [](std::vector<double> values, Combining how) { return combined(values, how); };
  const std::vector<double> five{9, 1, 4, 2, 100};
  EXPECT_EQ(combination(five, Combining::mean), 23.2);
  EXPECT_EQ(combination(five, Combining::median), 4);
  EXPECT_EQ(combination(five, Combining::trimmed), 5);  // mean of 2, 4, 9
  EXPECT_EQ(combination({8, 1, 3, 2}, Combining::median), 2.5);
  EXPECT_EQ(combination({8, 1}, Combining::median), 4.5);
  EXPECT_EQ(combination({8, 1}, Combining::trimmed), 4.5);
  EXPECT_EQ(combination({7}, Combining::trimmed), 7);
  std::vector<double> many;
  for (int k = 29; k >= 0; --k) many.push_back(k < 27 ? k : 1e9);
  EXPECT_EQ(combination(many, Combining::trimmed), 14.5);  // 3 of 30 at each end are left out
  for (const Combining how : {Combining::mean, Combining::median, Combining::trimmed})
    EXPECT_TRUE(std::isnan(combination({}, how)));
}

/// The exact variances of medians of normal values are those of Sarhan and Greenberg's tables; the formula is
/// that of many values.
TEST(Combining, KnowsItsVariance) {
  for (const Combining how : {Combining::mean, Combining::median, Combining::trimmed})
    for (const Index one_or_two : {1, 2})
      EXPECT_DOUBLE_EQ(variance_of(how, one_or_two), 1.0 / static_cast<double>(one_or_two));
  EXPECT_DOUBLE_EQ(variance_of(Combining::mean, 20), 0.05);
  const double medians[] = {0.4487, 0.2982, 0.2868, 0.2147, 0.2104, 0.1682, 0.1661, 0.1383};  // for 3 to 10
  for (Index n = 3; n <= 10; ++n)
    EXPECT_NEAR(variance_of(Combining::median, n) / medians[n - 3], 1, 0.041) << n;
  EXPECT_NEAR(variance_of(Combining::trimmed, 10) / 0.1053, 1, 0.041);
  EXPECT_NEAR(variance_of(Combining::median, 100001) * 100001, std::acos(-1.0) / 2, 1e-3);
}

TEST(FlatSets, AreFlatsBetweenWhichNoViewWasTaken) {
  io::ScanInfo info;
  info.flats = 5;
  EXPECT_EQ(flat_sets(info), (std::vector<std::vector<Index>>{{0, 1, 2, 3, 4}}));
  info.times = {{2, 3, 6, 7}, {0, 1, 4, 5, 8}};
  EXPECT_EQ(flat_sets(info), (std::vector<std::vector<Index>>{{0, 1}, {2, 3}, {4}}));
  info.times.flats = {8, 5, 4, 1, 0};  // in the order of time, not of the file
  EXPECT_EQ(flat_sets(info), (std::vector<std::vector<Index>>{{4, 3}, {2, 1}, {0}}));
  info.times = {{0, 1, 2}, {3, 3, 4, 5, 6}};  // all behind the views
  EXPECT_EQ(flat_sets(info).size(), 1u);
  info.times = {{0, 1, 2, 3}, {0, 0, 2, 2, 4}};  // before views 0, 2 and 4
  EXPECT_EQ(flat_sets(info), (std::vector<std::vector<Index>>{{0, 1}, {2, 3}, {4}}));
}

/// Sets at times 0.5, 4.5 and 8; two flats, two flats, one.
io::ScanInfo three_sets() {
  io::ScanInfo info;
  info.flats = 5;
  info.times = {{2, 3, 6, 7, 9}, {0, 1, 4, 5, 8}};
  return info;
}

TEST(FlatSets, AreInterpolatedUnlessAskedOtherwise) {
  const FlatUse use = flat_use_of(three_sets(), {});
  EXPECT_EQ(use.between, "linear");
  ASSERT_EQ(use.views.size(), 5u);
  const FlatMix expected[] = {{0, 1, 2.5f / 4, 1.5f / 4},
                              {0, 1, 1.5f / 4, 2.5f / 4},
                              {1, 2, static_cast<float>(2 / 3.5), static_cast<float>(1.5 / 3.5)},
                              {1, 2, static_cast<float>(1 / 3.5), static_cast<float>(2.5 / 3.5)},
                              {2, 2, 1, 0}};
  for (std::size_t v = 0; v < 5; ++v) {
    EXPECT_EQ(use.views[v].first, expected[v].first) << v;
    EXPECT_EQ(use.views[v].second, expected[v].second) << v;
    EXPECT_FLOAT_EQ(use.views[v].of_first, expected[v].of_first) << v;
    EXPECT_FLOAT_EQ(use.views[v].of_second, expected[v].of_second) << v;
  }
  const FlatUse near = flat_use_of(three_sets(), {{"flat-sets", "nearest"}});
  EXPECT_EQ(near.between, "nearest");
  const Index sets[] = {0, 1, 1, 2, 2};  // 2 is nearer to 0.5 than to 4.5; 6 is nearer to 4.5 than to 8
  for (std::size_t v = 0; v < 5; ++v) {
    EXPECT_EQ(near.views[v].first, sets[v]) << v;
    EXPECT_EQ(near.views[v].of_first, 1);
    EXPECT_EQ(near.views[v].of_second, 0);
  }
  const FlatUse together = flat_use_of(three_sets(), {{"flat-sets", "together"}});
  EXPECT_EQ(together.between, "together");
  EXPECT_EQ(together.sets, (std::vector<std::vector<Index>>{{0, 1, 2, 3, 4}}));
  EXPECT_TRUE(together.views.empty());
}

/// Flats are those of a source that is measured without the sample at every angle.
TEST(FlatSets, MayBeOneForEachView) {
  io::ScanInfo info;
  info.flats = info.views_stored = 6;
  angles_of(info.scan).assign(3, 0.0);
  info.first_view = 1, info.view_step = 2;
  const StepValues each{{"flat-sets", "each"}};
  const FlatUse use = flat_use_of(info, each);
  EXPECT_EQ(use.between, "each");
  EXPECT_EQ(use.sets, (std::vector<std::vector<Index>>{{1}, {3}, {5}}));
  for (Index v = 0; v < 3; ++v) {
    EXPECT_EQ(use.views.at(static_cast<std::size_t>(v)).first, v);
    EXPECT_TRUE(use.views[static_cast<std::size_t>(v)].is_one());
  }
  info.flats = 5;
  EXPECT_NE(refusal([&] { flat_use_of(info, each); }).find("5 flats for 6 views"), std::string::npos);
}

/// Each view is half of its own flat, less the dark; the noise of one flat is that of its counts.
TEST(FlatSets, OfOwnViewsAreDividedByAlone) {
  ReferencesInMemory reader(floats({3, 1, 2}, {110, 210, 30, 50, 1010, 60}), floats({1, 1, 2}, {10, 10}));
  io::ScanInfo& info = reader.info_to_change();
  info.views_stored = 3;
  angles_of(info.scan).assign(3, 0.0);
  const io::Frames views = floats({3, 1, 2}, {60, 110, 20, 30, 510, 35});
  const LineIntegrals lines = processed(reader, views, with({{"flat-sets", "each"}}, true, true));
  for (int i = 0; i < 6; ++i)
    EXPECT_NEAR(lines.y.data()[i], std::log(2.0), 10 * tolerance::float_rounding) << i;
  double variance = 0;
  for (const double flat : {100, 200, 20, 40, 1000, 50}) variance += 2 / flat + 1 / flat;
  EXPECT_NEAR(lines.noise_norms[0], std::sqrt(variance), 1e-6);
}

TEST(FlatSets, WithoutTimesAreTakenTogetherOrRefused) {
  io::ScanInfo info;
  info.flats = 4;
  EXPECT_EQ(flat_use_of(info, {}).between, "together");
  for (const char* asked : {"linear", "nearest"})
    EXPECT_NE(refusal([&] {
                flat_use_of(info, {{"flat-sets", asked}});
              }).find("--flat-loc"),
              std::string::npos);
  info.flats = 0;
  EXPECT_NO_THROW(flat_use_of(info, {{"flat-sets", "linear"}}));
}

/// The beam decays by 5 % between two sets of flats, as exp(-t). Between them a line is above it by
/// delta^2 / 8 = 3.3e-4 of it at most.
TEST(FlatSets, FollowABeamThatDecays) {
  constexpr Index views = 101, bins = 3;
  const double rate = -std::log(0.95) / (views + 1);
  const auto beam = [&](double t) { return static_cast<float>(10 + 40000 * std::exp(-rate * t)); };
  std::vector<float> all;
  for (Index v = 0; v < views; ++v) all.insert(all.end(), bins, beam(static_cast<double>(v + 1)));
  std::vector<float> flats(bins, beam(0));
  flats.insert(flats.end(), bins, beam(views + 1));
  ReferencesInMemory reader(floats({2, 1, bins}, flats), floats({1, 1, bins}, std::vector<float>(bins, 10)));
  reader.info_to_change().times.flats = {0, views + 1};
  for (Index v = 0; v < views; ++v) reader.info_to_change().times.views.push_back(static_cast<double>(v + 1));
  const io::Frames data = floats({views, 1, bins}, all);
  const auto largest = [&](const StepValues& values) {
    const LineIntegrals lines = processed(reader, data, with(values));
    double most = 0;
    for (Index i = 0; i < views * bins; ++i) most = std::max(most, std::abs(double{lines.y.data()[i]}));
    return most;
  };
  EXPECT_LE(largest({}), 4e-4);
  EXPECT_GT(largest({}), 2.5e-4);  // the bend of the exponential is there
  EXPECT_GT(largest({{"flat-sets", "together"}}), 0.02);
  EXPECT_GT(largest({{"flat-sets", "nearest"}}), 0.02);
}

/// Each view and each flat has its own beam. The flats of two sets are interpolated as well: if the monitor
/// were applied on top of flats that have the beam in them, it would be there twice.
TEST(Monitor, TakesTheBeamFromViewsAndFlatsOnce) {
  const std::vector<double> beam{1.0, 0.9, 0.7, 1.3, 0.5, 0.8, 1.1, 0.6};  // 2 flats, 4 views, 2 flats
  const std::vector<float> cell{1000, 2000, 500}, through{1, 0.5f, 0.25f};
  std::vector<float> flats, views;
  for (std::size_t f = 0; f < beam.size(); ++f)
    for (std::size_t b = 0; b < 3; ++b) {
      const bool view = f >= 2 && f < 6;
      const double counts = 10 + static_cast<double>(b) + beam[f] * cell[b] * (view ? through[b] : 1);
      (view ? views : flats).push_back(static_cast<float>(counts));
    }
  ReferencesInMemory reader(floats({4, 1, 3}, flats), floats({1, 1, 3}, {10, 11, 12}));
  io::ScanInfo& info = reader.info_to_change();
  info.times = {{2, 3, 4, 5}, {0, 1, 6, 7}};
  info.monitor = {{70, 130, 50, 80}, {100, 90, 110, 60}};
  for (const char* sets : {"linear", "nearest", "together"})
    for (const char* method : {"mean", "median"}) {
      const LineIntegrals lines =
          processed(reader, floats({4, 1, 3}, views),
                    with({{"normalize-monitor", true}, {"flat-sets", sets}, {"flat-method", method}}));
      for (Index i = 0; i < 12; ++i)
        EXPECT_NEAR(lines.y.data()[i], -std::log(through[static_cast<std::size_t>(i % 3)]),
                    20 * tolerance::float_rounding)
            << sets << ' ' << method << ' ' << i;
    }
}

/// Counts above the dark grow with the time of exposure, without being asked: flats of 2 and 4 s, views of 1
/// to 8 s.
TEST(Exposures, AreTakenFromViewsAndFlats) {
  const std::vector<double> seconds{2, 4, 1, 8, 4};  // 2 flats, 3 views
  const std::vector<float> cell{1000, 2000, 500}, through{1, 0.5f, 0.25f};
  std::vector<float> flats, views;
  for (std::size_t f = 0; f < seconds.size(); ++f)
    for (std::size_t b = 0; b < 3; ++b)
      (f < 2 ? flats : views)
          .push_back(static_cast<float>(10 + seconds[f] * static_cast<double>(cell[b]) *
                                                 (f < 2 ? 1 : static_cast<double>(through[b]))));
  ReferencesInMemory reader(floats({2, 1, 3}, flats), floats({1, 1, 3}, {10, 10, 10}));
  reader.info_to_change().exposures = {{1, 8, 4}, {2, 4}};
  const LineIntegrals lines = processed(reader, floats({3, 1, 3}, views), with({}));
  for (Index i = 0; i < 9; ++i)
    EXPECT_NEAR(lines.y.data()[i], -std::log(through[static_cast<std::size_t>(i % 3)]),
                20 * tolerance::float_rounding)
        << i;
  // a monitor that is asked for knows the exposure
  io::ScanInfo info = three_sets();
  info.exposures = info.monitor = {{1, 1, 1, 1, 1}, {2, 2, 2, 2, 2}};
  EXPECT_EQ(flat_use_of(info, {{"normalize-monitor", true}}).divided_by, "the monitor");
  EXPECT_EQ(flat_use_of(info, {}).divided_by, "times of exposure");
}

TEST(Monitor, IsRefusedWhereItIsMissingOrNoNumber) {
  io::ScanInfo info = three_sets();
  const StepValues asked{{"normalize-monitor", true}};
  EXPECT_NE(refusal([&] { flat_use_of(info, asked); }).find("control/data"), std::string::npos);
  info.monitor = {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}};
  EXPECT_NO_THROW(flat_use_of(info, asked));
  info.monitor.flats[3] = 0;
  EXPECT_NE(refusal([&] { flat_use_of(info, asked); }).find("flat 3 is 0"), std::string::npos);
  info.monitor.flats[3] = 1, info.monitor.views[1] = NAN;
  EXPECT_NE(refusal([&] { flat_use_of(info, asked); }).find("view 1 is nan"), std::string::npos);
}

/// 100 and 300 net counts in the flats of two sets, and a view midway between them: (0.5 100 + 0.5 300) =
/// 200.
TEST(FlatNoise, IsThatOfTheMixedFlats) {
  ReferencesInMemory reader(floats({3, 1, 1}, {110, 110, 310}), floats({1, 1, 1}, {10}));
  reader.info_to_change().times = {{3, 5}, {1.5, 2.5, 8}};  // two flats at 2, one at 8
  const Preprocessing how = with({}, true, true);
  const io::Frames views = floats({2, 1, 1}, {60, 60});  // 50 photons
  const LineIntegrals lines = processed(reader, views, how);
  EXPECT_NEAR(lines.y.data()[1], -std::log(50.0 / 200), 10 * tolerance::float_rounding);
  // variances of the means: 100 / 2 and 300; at times 3 and 5 with weights 5/6, 1/6 and 1/2, 1/2
  const double at3 = (25.0 / 36 * 50 + 1.0 / 36 * 300) / std::pow(5.0 / 6 * 100 + 1.0 / 6 * 300, 2);
  const double at5 = (0.25 * 50 + 0.25 * 300) / (200.0 * 200);
  EXPECT_NEAR(lines.noise_norms[0], std::sqrt(2.0 / 50 + at3 + at5), 1e-6);
}

TEST(FlatNoise, FollowsTheMethodAndTheMonitor) {
  ReferencesInMemory reader(floats({5, 1, 1}, {100, 100, 100, 100, 100}), floats({0, 1, 1}, {}));
  const io::Frames views = floats({1, 1, 1}, {50});
  const LineIntegrals lines = processed(reader, views, with({{"flat-method", "median"}}, true, true));
  const double of_median = variance_of(Combining::median, 5) * 100 / (100 * 100);
  EXPECT_NEAR(lines.noise_norms[0], std::sqrt(1.0 / 50 + of_median), 1e-6);
  // a beam of half the flats': 100 counts make 50, of 5 flats
  reader.info_to_change().monitor = {{5}, {10, 10, 10, 10, 10}};
  const LineIntegrals weak = processed(reader, views, with({{"normalize-monitor", true}}, true, true));
  EXPECT_NEAR(weak.y.data()[0], 0, tolerance::float_rounding);
  EXPECT_NEAR(weak.noise_norms[0], std::sqrt(1.0 / 50 + 1.0 / 500), 1e-6);
}

/// Poisson counts, many times: the variance of line integrals is what the noise model says.
TEST(FlatNoise, IsWhatIsMeasured) {
  constexpr Index bins = 20000, flats = 5;
  Random random(7);
  const auto normal = [&] {
    double sum = -6;
    for (int k = 0; k < 12; ++k) sum += random.uniform();
    return sum;
  };
  const auto counts = [&](Index frames) {
    std::vector<float> all(static_cast<std::size_t>(frames * bins));
    for (float& c : all) c = static_cast<float>(1000 + std::sqrt(1000.0) * normal());
    return floats({frames, 1, bins}, all);
  };
  ReferencesInMemory reader(counts(flats), floats({0, 1, bins}, {}));
  const io::Frames view = counts(1);
  for (const char* method : {"mean", "median", "trimmed"}) {
    const LineIntegrals lines = processed(reader, view, with({{"flat-method", method}}, true, true));
    double squares = 0;
    for (Index b = 0; b < bins; ++b) squares += std::pow(double{lines.y.data()[b]}, 2);
    // a variance from 20 000 values is known to 1 %; the model's own share, below a quarter, to 4 %
    EXPECT_NEAR(std::sqrt(squares) / lines.noise_norms[0], 1, 0.02) << method;
  }
}

TEST(References, CellsThatAreDeadInOneSetAreDeadInAll) {
  ReferencesInMemory reader(floats({2, 1, 3}, {10, 0, 10, 20, 20, NAN}), floats({0, 1, 3}, {}));
  reader.info_to_change().times = {{1}, {0, 2}};
  const Reference reference = read_reference(reader, {0, 1}, {0, 3}, with({}));
  EXPECT_EQ(reference.dead, 2);
  EXPECT_EQ(reference.not_finite, std::vector<Index>{1});
  Findings findings;
  const LineIntegrals lines = preprocess(floats({1, 1, 3}, {7.5f, 1, 1}), reference, with({}),
                                         Space({1, 1, 3}, Blocks::rows), findings);
  for (int b = 0; b < 3; ++b)
    EXPECT_NEAR(lines.y.data()[b], std::log(2.0), 10 * tolerance::float_rounding) << b;
}

TEST(References, ViewsKnowTheirPlaceInTheScan) {
  ReferencesInMemory reader(floats({2, 1, 1}, {100, 200}), floats({0, 1, 1}, {}));
  reader.info_to_change().times = {{1, 2, 3}, {0, 4}};
  const Reference reference = read_reference(reader, {0, 1}, {0, 1}, with({}));
  io::Frames some = floats({2, 1, 1}, {75, 87.5f});
  some.first = 1;
  Findings findings;
  const LineIntegrals lines = preprocess(some, reference, with({}), Space({2, 1, 1}, Blocks::rows), findings);
  for (int v = 0; v < 2; ++v) EXPECT_NEAR(lines.y.data()[v], std::log(2.0), 10 * tolerance::float_rounding);
}

TEST(References, OfSomeRowsAreThoseOfAll) {
  Random random(3);
  std::vector<float> flats(3 * 6 * 5), darks(2 * 6 * 5);
  for (float& f : flats) f = static_cast<float>(100 + 50 * random.uniform());
  for (float& d : darks) d = static_cast<float>(10 * random.uniform());
  flats[7] = NAN, darks[21] = INFINITY;
  ReferencesInMemory reader(floats({3, 6, 5}, flats), floats({2, 6, 5}, darks));
  reader.info_to_change().times = {{1, 2}, {0, 3, 3}};
  const Preprocessing how = preprocessing_of({}, {0, 5}, 1);
  const Reference all = read_reference(reader, {0, 6}, {0, 5}, how),
                  some = read_reference(reader, {2, 6}, {0, 5}, how), part = crop(all, {1, 3});
  EXPECT_EQ(part.first_row, some.first_row);
  EXPECT_EQ(part.rows, some.rows);
  EXPECT_EQ(part.dark, some.dark);
  EXPECT_EQ(part.dead, some.dead);
  EXPECT_EQ(part.counts, some.counts);
  EXPECT_EQ(part.not_finite, some.not_finite);
  ASSERT_EQ(part.sets.size(), 2u);
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(part.sets[s].span, some.sets[s].span);
    EXPECT_EQ(part.sets[s].variance, some.sets[s].variance);
    EXPECT_EQ(part.sets[s].floor, some.sets[s].floor);
  }
}

TEST(References, AreTomopysNormalize) {
  if (!exists(test::vectors_folder())) GTEST_SKIP() << test::vectors_folder() << " is not there";
  test::expect_tomopys_normalize(test::on_the_cpu);
}

}  // namespace
}  // namespace tandem::pipeline
