// Vectors of which each rank has a portion, and the operators between them, are those of one process.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/norms.hpp"
#include "../../operators/periodogram.hpp"
#include "../../operators/vector.hpp"
#include "../support/tolerances.hpp"
#include "portions.hpp"

namespace tandem::test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

Stream& stream() { return default_stream(Device::cpu()); }

/// A strip of a volume or some views, of every case, with or without something for each rank.
std::vector<Space> portions() {
  std::vector<Space> some;
  for (const ConeCase& c : cone_cases())
    for (const Space& space : {c.over_ranks().domain(), c.over_ranks().range()}) some.push_back(space);
  some.push_back(Space::direct_sum({some[0], some[1], some[0]}));
  return some;
}

TEST(Portions, MakeUpTheWhole) {
  for (const Space& portion : portions()) {
    std::array<double, 2> sizes{static_cast<double>(portion.size()), 1};
    all().all_reduce(sizes);
    EXPECT_EQ(sizes[0], static_cast<double>(portion.whole().size()));
    EXPECT_TRUE(portion.is_portion());
    EXPECT_FALSE(portion.whole().is_portion());
    EXPECT_FALSE(portion.fits(portion.whole()));
  }
}

TEST(Portions, HaveTheSumsOfTheWhole) {
  for (const Space& portion : portions()) {
    const Array x = random_array(portion.whole(), 5), y = random_array(portion.whole(), 6);
    const Array own_x = portion_of(x, portion), own_y = portion_of(y, portion);
    EXPECT_NEAR(dot(own_x, own_y, stream())[0], dot(x, y, stream())[0], 1e-13 * total(dot(x, x, stream())));
    EXPECT_NEAR(norm(own_x, stream())[0] / norm(x, stream())[0], 1, 1e-14);
    if (portion.parts() > 1) continue;
    EXPECT_NEAR(sum_lengths(own_x, stream())[0] / sum_lengths(x, stream())[0], 1, 1e-13);
  }
}

TEST(Portions, HaveTheSameSumsOnAllRanks) {
  for (const Space& portion : portions()) {
    const Array x = portion_of(random_array(portion.whole(), 5), portion);
    const double own = norm(x, stream())[0];
    std::array extremes{own, -own};
    all().all_reduce(extremes, Combine::least);
    EXPECT_EQ(extremes[0], -extremes[1]);
  }
}

TEST(Portions, CountWhatIsNotFiniteOnAnyRank) {
  for (const Space& portion : portions()) {
    Array x = random_array(portion.whole(), 5);
    x.data()[0] = x.data()[x.size() - 1] = nan;
    x.data()[x.size() / 2] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(count_not_finite(portion_of(x, portion), stream()), count_not_finite(x, stream()));
  }
}

TEST(Portions, ChangeElementByElement) {
  for (const Space& portion : portions()) {
    const Array x = random_array(portion.whole(), 5);
    Array y = random_array(portion.whole(), 6);
    const Array own_x = portion_of(x, portion);
    Array own_y = portion_of(y, portion);
    const auto work = [single = portion.parts() == 1](const Array& a, Array& b) {
      axpby(0.7f, a, -0.3f, b, stream());
      multiply(a, b, stream());
      clamp_below(b, -0.01f, stream());
      if (single) b = inverse_sums(std::move(b), stream());  // its bound for sums below zero is of one part
    };
    work(x, y), work(own_x, own_y);
    EXPECT_EQ(error_of(own_y, y), 0);
    fill(own_y, 2, stream());
    EXPECT_EQ(dot(own_y, own_y, stream())[0], 4 * static_cast<double>(x.size()));
  }
}

/// A vector that begins at random is then the same with any number of ranks.
TEST(Portions, AreDrawnAsTheWhole) {
  for (const Space& portion : portions()) {
    Random here(3), there(3);
    const Array x = uniform_array(portion.whole(), here), own = uniform_array(portion, there);
    EXPECT_EQ(error_of(own, x), 0);
    EXPECT_EQ(here.bits(), there.bits());
    Array signs(portion.whole()), own_signs(portion);
    fill_with_signs(signs, 7, stream());
    fill_with_signs(own_signs, 7, stream());
    EXPECT_EQ(error_of(own_signs, signs), 0);
  }
}

TEST(Portions, AreAsFarFromWhiteAsTheWhole) {
  for (const ConeCase& c : cone_cases()) {
    const Array y = random_array(c.here().range(), 5);
    EXPECT_NEAR(distance_from_white(portion_of(y, c.over_ranks().range()), stream())[0],
                distance_from_white(y, stream())[0], 1e-14);
  }
}

TEST(RankProjector, ProjectsAsOneProcessDoes) {
  for (const ConeCase& c : cone_cases()) {
    const LinearOperator one = c.here(), several = c.over_ranks();
    const Array x = random_array(one.domain(), 5), y = random_array(one.range(), 6);
    EXPECT_LE(error_of(several * portion_of(x, several.domain()), one * x), tolerance::tiles) << c.name;
    EXPECT_LE(error_of(adjoint(several) * portion_of(y, several.range()), adjoint(one) * y), tolerance::tiles)
        << c.name;
  }
}

TEST(RankProjector, IsMatched) {
  for (const ConeCase& c : cone_cases()) {
    EXPECT_LE(adjointness(c.over_ranks()).mismatch, tolerance::mismatch) << c.name;
    EXPECT_NEAR(operator_norm(c.over_ranks(), 5) / operator_norm(c.here(), 5), 1, tolerance::tiles) << c.name;
  }
}

/// alpha A x + beta y, where y is not read if beta = 0; in one order of sums, whenever messages come.
TEST(RankProjector, ObeysAlphaAndBetaBothWaysWithTheSameBits) {
  for (const ConeCase& c : cone_cases()) {
    const LinearOperator A = c.over_ranks();
    for (const LinearOperator& B : {A, adjoint(A)}) {
      const Array x = random_array(B.domain(), 5), truth = B * x;
      Array y(B.range());
      for (int run = 0; run < 3; ++run) {
        fill(y, nan, stream());
        B.apply(1, x, 0, y, stream());
        EXPECT_TRUE(same_bits(y, truth)) << c.name;
      }
      B.apply(2, x, -1, y, stream());  // 2 B x - B x
      Array difference = y.clone();
      axpby(-1, truth, 1, difference, stream());
      EXPECT_LE(norm(difference, stream())[0], tolerance::devices * norm(truth, stream())[0]) << c.name;
    }
  }
}

/// The parts include some that pass through the host in several pieces.
TEST(RankProjector, HasTheSameBitsWhicheverWayStripsGo) {
  std::vector<ConeCase> cases = cone_cases();
  cases.push_back({"several pieces", far_cone(2, 20, 30), box(190, 203, 301, 0.2)});
  for (ConeCase& c : cases) {
    const LinearOperator direct = c.over_ranks();
    c.through_host = true;
    const LinearOperator through_host = c.over_ranks();
    const Array x = random_array(direct.domain(), 5), y = random_array(direct.range(), 6);
    EXPECT_TRUE(same_bits(through_host * x, direct * x)) << c.name;
    EXPECT_TRUE(same_bits(adjoint(through_host) * y, adjoint(direct) * y)) << c.name;
  }
}

TEST(RankProjector, RefusesWhatIsNotItsPortion) {
  const ConeCase c = cone_cases().front();
  const LinearOperator A = c.over_ranks();
  EXPECT_THROW(A * random_array(A.domain().whole(), 1), SpaceError);
  EXPECT_THROW(A * random_array(A.domain().whole().portion(1, 0, 1), 1), SpaceError);
  const Device team = Device::team({Device::cpu(), Device::cpu()});
  EXPECT_THROW(rank_projector(all(), {c.grid, A.range().on(team), 0, {}}), SpaceError);
}

constexpr std::array<float, 3> scales{0.8f, 1.1f, 0.9f};

TEST(RankGradient, IsThatOfOneProcess) {
  for (const ConeCase& c : cone_cases()) {
    const LinearOperator one = gradient(c.here().domain(), scales),
                         several = gradient(c.over_ranks().domain(), scales);
    const Array x = random_array(one.domain(), 5), q = random_array(one.range(), 6);
    Array field = one * x, own_field = several * portion_of(x, several.domain());
    EXPECT_EQ(error_of(own_field, field), 0) << c.name;
    Array own_x = portion_of(x, several.domain()), y = x.clone();
    one.apply_adjoint(0.7f, q, -0.3f, y, stream());
    several.apply_adjoint(0.7f, portion_of(q, several.range()), -0.3f, own_x, stream());
    EXPECT_LE(error_of(own_x, y), 4 * tolerance::u) << c.name;
    EXPECT_NEAR(sum_lengths(own_field, stream())[0] / sum_lengths(field, stream())[0], 1, 1e-13) << c.name;
    const float longest = 0.4f;
    clamp_lengths(field, longest, stream());
    clamp_lengths(own_field, longest, stream());
    EXPECT_EQ(error_of(own_field, field), 0) << c.name;
  }
}

TEST(RankGradient, IsMatchedAndObeysBeta) {
  for (const ConeCase& c : cone_cases()) {
    const LinearOperator D = gradient(c.over_ranks().domain(), scales);
    EXPECT_LE(adjointness(D).mismatch, tolerance::mismatch) << c.name;
    for (const LinearOperator& B : {D, adjoint(D)}) {
      const Array x = random_array(B.domain(), 5), truth = B * x;
      Array y(B.range());
      fill(y, nan, stream());
      B.apply(1, x, 0, y, stream());
      EXPECT_TRUE(same_bits(y, truth)) << c.name;
    }
  }
}

/// Runs in a process of its own (ctest ranks_first_gradient), as ranks agree on their way at their first
/// exchange.
TEST(RankGradient, MayBeTheFirstThatExchanges) {
  const Range own = portion_of_rank(2, all().rank(), all().size());
  const Array whole = random_array(Space({5, 2, 13}), 5);
  const LinearOperator one = gradient(whole.space()),
                       several = gradient(whole.space().portion(1, own.first, own.last));
  EXPECT_EQ(error_of(several * portion_of(whole, several.domain()), one * whole), 0);
}

TEST(RankGradient, NeedsAllSlicesOfAStrip) {
  EXPECT_THROW(gradient(Space({5, 4, 3}).portion(0, 0, 2)), SpaceError);
}

TEST(PortionOfRank, SharesOutEvenlyAndLeavesLastRanksWithout) {
  for (const int ranks : {1, 2, 3, 7})
    for (const Index count : {1, 2, 6, 19, 224, 1000, 2001}) {
      Index next = 0, most = 0, least = count;
      for (int rank = 0; rank < ranks; ++rank) {
        const Range own = portion_of_rank(count, rank, ranks);
        EXPECT_EQ(own.first, next);
        next = own.last;
        most = std::max(most, own.size()), least = std::min(least, own.size());
        EXPECT_LE(own.size(), portion_of_rank(count, 0, ranks).size());
        EXPECT_EQ(count >= 1000 ? own.first % 8 : 0, 0);
      }
      EXPECT_EQ(next, count);
      EXPECT_LE(most - least, count < 32 * ranks ? 1 : 15);
    }
}

}  // namespace
}  // namespace tandem::test
