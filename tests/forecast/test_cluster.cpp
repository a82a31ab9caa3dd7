// The forecast for machines that are not here, against numbers counted by hand.

#include <gtest/gtest.h>

#include "../../core/error.hpp"
#include "../../core/units.hpp"
#include "../../forecast/cluster.hpp"
#include "../support/cone_scans.hpp"

namespace tandem::test {
namespace {

using pipeline::Cluster;
using pipeline::forecast_of_rank;
using pipeline::RankForecast;

constexpr SolverCost cost{
    .volumes = 3, .projections = 2, .preparation = {1, 1}, .step = {1, 1}, .traces = {}};

/// 5 bytes a voxel forward, 7 bytes a cell back.
WorkingMemory kernels(Shape volume, Shape projections) {
  return {5.0 * static_cast<double>(volume[0] * volume[1] * volume[2]),
          7.0 * static_cast<double>(projections[0] * projections[1] * projections[2])};
}

/// 60 x 70 x 80 voxels (x, y, z) from 10 views of 6 rows and 90 bins.
RankForecast forecast(const Cluster& cluster) {
  return forecast_of_rank(far_cone(10, 6, 90), {{60, 70, 80}, {1, 1, 1}, {}}, cost, cluster, kernels);
}

constexpr double line = 4.0 * 60 * 80, view = 4.0 * 6 * 90, updates = 60.0 * 70 * 80;

TEST(ClusterForecast, OneRankSendsNothing) {
  const RankForecast found = forecast({1, 1e9, 4e6, 8e6, 1e6});
  EXPECT_EQ(found.lines, 70);
  EXPECT_EQ(found.views, 10);
  EXPECT_EQ(found.lines_at_once, 70);
  EXPECT_EQ(found.vectors, 3 * 70 * line + 2 * 10 * view);
  EXPECT_EQ(found.bytes, found.vectors + std::max((2 + 1.25) * 70 * line, 3 * 70 * line + 7 * 10 * 6 * 90));
  EXPECT_EQ(found.sent, 0);
  EXPECT_DOUBLE_EQ(found.seconds, 10 * updates / 4e6 + 10 * updates / 8e6);
}

/// The first of three ranks has 24 lines and 4 views. It sends all lines but the 23 of the last one, and sums
/// of all lines but its own.
TEST(ClusterForecast, StripsGoRoundOnceEachWay) {
  const RankForecast found = forecast({3, 1e9, 4e6, 8e6, 1e12});
  EXPECT_EQ(found.lines, 24);
  EXPECT_EQ(found.views, 4);
  EXPECT_EQ(found.sent, (70 - 23 + 70 - 24) * line);
  EXPECT_DOUBLE_EQ(found.computing, 4 * updates / 4e6 + 4 * updates / 8e6);
  EXPECT_DOUBLE_EQ(found.seconds, found.computing);  // such a link hides everything
}

TEST(ClusterForecast, ASlowLinkDecidesHoweverManyRanksThereAre) {
  for (const int ranks : {2, 5, 20}) {
    const RankForecast found = forecast({ranks, 1e9, 4e12, 8e12, 1e6});
    EXPECT_DOUBLE_EQ(found.sending, found.sent / 1e6);
    EXPECT_NEAR(found.seconds, found.sending, 1e-3 * found.sending) << ranks << " ranks";
  }
}

TEST(ClusterForecast, LessMemoryTakesFewerLinesAtATime) {
  const double vectors = forecast({3, 1e9, 1, 1, 1}).vectors;
  Cluster cluster{3, vectors + (2 + 1.25) * 24 * line, 1, 1, 1};
  EXPECT_EQ(forecast(cluster).lines_at_once, 24);
  cluster.device_bytes -= 1;
  EXPECT_EQ(forecast(cluster).lines_at_once, 12);
  EXPECT_LE(forecast(cluster).bytes, cluster.device_bytes);
}

TEST(ClusterForecast, SaysWhatIsTooLittle) {
  try {
    forecast({2, 0.5 * forecast({2, 1e9, 1, 1, 1}).vectors, 1, 1, 1});
    FAIL() << "no error";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("give more --ranks"), std::string::npos) << error.what();
  }
  EXPECT_THROW(forecast({0, 1e9, 1, 1, 1}), GeometryError);
  EXPECT_THROW(forecast({2, 1e9, 1, 1, 0}), GeometryError);
}

}  // namespace
}  // namespace tandem::test
