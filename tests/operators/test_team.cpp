// Operators whose vectors lie on a team of devices are those on one device.

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "../../core/error.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/vector.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

Device team_of(std::size_t members) { return Device::team(std::vector<Device>(members, Device::cpu())); }

struct Case {
  ConeBeam cone = far_cone(19, 7, 23);
  VolumeGrid grid = box(13, 11, 5, 0.7);
  LinearOperator on(Device device, Model model = Model::separable_footprint) const {
    return projector(cone, grid, model, device);
  }
};

TEST(Team, ProjectsAsOneDeviceDoes) {
  using enum Model;
  const Case c;
  for (const Model model : {separable_footprint, joseph, pixel_driven}) {
    const LinearOperator one = c.on(Device::cpu(), model);
    const Array x = random_array(one.domain(), 5), y = random_array(one.range(), 6);
    for (const std::size_t members : {2, 3, 19}) {
      const Device team = team_of(members);
      const LinearOperator A = c.on(team, model);
      EXPECT_LE(relative_error(A * on_device(x, team), one * x), tolerance::tiles) << members;
      EXPECT_LE(relative_error(adjoint(A) * on_device(y, team), adjoint(one) * y), tolerance::tiles)
          << members;
    }
  }
}

TEST(Team, FiltersAsOneDeviceDoes) {
  ConeBeam aside = Case().cone;
  aside.detector.axis_bin += 5;
  const Device team = team_of(3);
  const LinearOperator one = ramp_filter(aside), several = ramp_filter(aside, {}, team);
  const Array y = random_array(one.domain(), 6);
  EXPECT_TRUE(same_bits(several * on_device(y, team), one * y));
}

/// Sums are joined in one order by one member each, so that all members go on with the same numbers.
TEST(Team, HoldsTheSameBitsInAllCopiesAndRuns) {
  const Case c;
  const Device team = team_of(3);
  const LinearOperator A = c.on(team);
  const Array y = random_array(A.range(), 6);
  const Array first = adjoint(A) * y;
  for (int run = 0; run < 3; ++run) {
    Array x = adjoint(A) * y;
    EXPECT_TRUE(same_bits(x, first));
    for (int k = 1; k < 3; ++k)
      EXPECT_EQ(std::memcmp(VectorView(x).share(k).data, VectorView(x).share(0).data,
                            static_cast<std::size_t>(x.size()) * sizeof(float)),
                0);
  }
}

/// The pair is matched, and what is there counts once: alpha A x + beta y, where y is not read if beta = 0.
TEST(Team, ObeysAlphaAndBetaBothWays) {
  ConeBeam aside = Case().cone;
  aside.detector.axis_bin += 5;
  const Device team = team_of(3);
  for (const LinearOperator& A : {Case().on(team), ramp_filter(aside, {}, team),
                                  fdk(aside, Case().grid, {}, Model::separable_footprint, team)}) {
    EXPECT_LE(adjointness(A).mismatch, tolerance::mismatch);
    for (const LinearOperator& B : {A, adjoint(A)}) {
      Stream& stream = default_stream(team);
      const Array x = random_array(B.domain(), 5), truth = B * x;
      Array y(B.range());
      fill(y, std::numeric_limits<float>::quiet_NaN(), stream);
      B.apply(1, x, 0, y, stream);
      EXPECT_TRUE(same_bits(y, truth));
      B.apply(2, x, -1, y, stream);  // 2 B x - B x
      EXPECT_LE(relative_error(y, truth), tolerance::devices);
    }
  }
}

TEST(Team, RefusesInputAndOutputThatOverlap) {
  const Device team = team_of(2);
  const LinearOperator I = identity(Case().on(team).domain());
  Array x(I.domain());
  EXPECT_THROW(I.apply(1, x, 0, x, default_stream(team)), SpaceError);
}

TEST(Team, HasTheNormsOfOneDevice) {
  const Case c;
  const LinearOperator one = c.on(Device::cpu()), several = c.on(team_of(3));
  for (const auto& [here, there] :
       {std::pair{one.domain(), several.domain()}, {one.range(), several.range()}}) {
    const Array x = random_array(here, 7), on_team = on_device(x, there.device());
    Stream &stream = default_stream(here.device()), &streams = default_stream(there.device());
    EXPECT_NEAR(norm(on_team, streams)[0] / norm(x, stream)[0], 1, 1e-14);
  }
}

TEST(Team, GradientsAndLengthsAreThoseOfOneDevice) {
  const Space volume = cone_volume_space(box(13, 11, 5, 0.7));
  const Device team = team_of(2);
  const LinearOperator one = gradient(volume), several = gradient(volume.on(team));
  Stream &stream = default_stream(Device::cpu()), &streams = default_stream(team);
  const Array x = random_array(volume, 5);
  Array here = one * x, there = several * on_device(x, team);
  EXPECT_EQ(sum_lengths(there, streams), sum_lengths(here, stream));
  const float longest = 0.4f;
  clamp_lengths(here, longest, stream);
  clamp_lengths(there, longest, streams);
  EXPECT_TRUE(same_bits(there, here));
  EXPECT_TRUE(same_bits(adjoint(several) * there, adjoint(one) * here));
  EXPECT_THROW(gradient(volume.split().on(team)), SpaceError);
}

TEST(Team, WhatItCannotDoIsAnError) {
  const Case c;
  EXPECT_THROW(c.on(team_of(20)), SpaceError);  // 19 views
  EXPECT_THROW(projector(wobbling_scan(), odd_grid(), Model::joseph, team_of(2)), DeviceError);
  const LinearOperator A = c.on(team_of(2));
  const Array other = random_array(c.on(team_of(3)).domain(), 5);
  EXPECT_THROW(A * other, SpaceError);
}

}  // namespace
}  // namespace tandem::test
