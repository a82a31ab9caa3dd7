// Detectors on a cylinder about the source: cells, the pair, and the filter.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "../../geometry/flexible_views.hpp"
#include "../../geometry/free_views.hpp"
#include "../../geometry/phantom.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/orbit_fbp.hpp"
#include "../../operators/projector.hpp"
#include "../support/cone_scans.hpp"
#include "../support/dense.hpp"
#include "../support/flexible_scans.hpp"
#include "../support/operators.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

constexpr double degree = std::numbers::pi / 180;

/// The views of a cone beam on a curved detector with the same pitches, radius and principal point.
FlexibleBeam curved(const ConeBeam& cone, double roll = 0, double tilt = 0) {
  OffCircle off;
  off.roll = roll, off.tilt = tilt, off.curved = true;
  return as_free_views(cone, off);
}

/// A clinical scanner: 27 degrees to either side of the axis, which is a quarter of a bin aside.
ConeBeam clinical(Index bins, Index rows, Index views) {
  const double pitch = 2 * 27 * degree * 1085 / static_cast<double>(bins);
  return {{bins, rows, pitch, pitch, 0.5 * static_cast<double>(bins - 1) + 0.25},
          regular_angles(views, whole_turn),
          595,
          1085,
          0.5 * static_cast<double>(rows - 1) + 0.3};
}

TEST(CurvedDetector, CellsLieOnACylinderAboutTheSourceAtEqualAngles) {
  const ConeBeam cone = clinical(41, 7, 5);
  for (const double roll : {0.0, 0.3}) {
    const FlexibleBeam scan = curved(cone, roll);
    for (Index view = 0; view < 5; ++view) {
      const FlexibleView& v = scan.views[static_cast<std::size_t>(view)];
      const Vector3 up = 1 / length(v.row_step) * v.row_step;
      const Vector3 axis = place_of(scan, view, cone.midplane_row, cone.detector.axis_bin);
      EXPECT_LE(length(cross(axis - v.source, v.source)), 1e-6 * 595 * 1085);  // through the axis of rotation
      for (const Index bin : {0, 17, 40}) {
        const Vector3 ray = place_of(scan, view, 5, static_cast<double>(bin)) - v.source,
                      level = ray - dot(ray, up) * up;
        EXPECT_NEAR(length(level), 1085, 1e-9);
        EXPECT_NEAR(dot(ray, up), (5 - cone.midplane_row) * cone.detector.row_pitch, 1e-9);
        const double angle = std::atan2(dot(cross(axis - v.source, level), up), dot(axis - v.source, level));
        EXPECT_NEAR(-angle,
                    (static_cast<double>(bin) - cone.detector.axis_bin) * cone.detector.bin_pitch / 1085,
                    1e-12);
      }
    }
  }
}

TEST(CurvedDetector, PartsAndBinnedCellsKeepTheirPlaces) {
  const FlexibleBeam scan = curved(clinical(40, 8, 3), 0.2, 0.05);
  const FlexibleBeam part = crop(scan, {1, 3}, {2, 7}, {5, 17}), binned = bin_down(scan, 1);
  EXPECT_LE(length(place_of(part, 0, 1.5, 3.25) - place_of(scan, 1, 3.5, 8.25)), 1e-9);
  EXPECT_LE(length(place_of(binned, 2, 1, 4) - place_of(scan, 2, 2.5, 8.5)), 1e-9);
}

/// All rows that slices meet are found, also if those in the middle of the fan lie beyond those at its ends.
TEST(CurvedDetector, TellsWhichRowsMeetWhichSlices) {
  const ConeBeam cone{{61, 80, 1.3, 0.7, 29.2}, regular_angles(7, whole_turn), 40, 60, 20};
  const VolumeGrid grid{{20, 14, 24}, {1.3, 1.3, 1.1}, {1, -2, 5}};
  for (const double roll : {0.0, 0.1}) {
    const FlexibleBeam scan = curved(cone, roll);
    const LinearOperator A = projector(scan, grid);
    for (const Index z : {0, 5, 23}) {
      Array x(A.domain());
      std::fill_n(x.data() + z * 20 * 14, 20 * 14, 1.0f);
      const Array y = A * x;
      const Range met = rows_met(scan, grid, {z, z + 1});
      for (Index i = 0; i < y.size(); ++i) {
        const Index row = i / 61 % 80;
        EXPECT_TRUE(y.data()[i] == 0 || (met.first <= row && row < met.last)) << z << ' ' << row;
      }
      EXPECT_LT(met.size(), 60);
    }
  }
}

TEST(CurvedDetector, RefusesWhatDoesNotLieAboutTheSource) {
  const auto fails = [](auto&& change, const char* word) {
    FlexibleBeam scan = curved(clinical(41, 7, 3));
    change(scan);
    expect_refused([&] { validate(scan); }, word);
  };
  fails([](FlexibleBeam& s) { s.views[1].source = s.views[1].source + 3 * s.views[1].bin_step; },
        "view 1: a curved detector lies on a cylinder about the source");
  fails([](FlexibleBeam& s) { s.views[2].row_step = s.views[2].row_step + 0.1 * s.views[2].bin_step; },
        "view 2: a curved detector has columns at right angles");
  fails([](FlexibleBeam& s) { s.detector.bins = 150; }, "degrees to either side");
  fails([](FlexibleBeam& s) { s.parallel = true; }, "parallel rays have none");
  EXPECT_FALSE(as_circle(curved(clinical(41, 7, 3))));
}

/// The relative L2 error of the shadow of a voxel of 1 mm in some views.
double error_of_voxel(const FlexibleBeam& scan, const Vector3& centre) {
  const VolumeGrid voxel{{1, 1, 1}, {1, 1, 1}, centre};
  const LinearOperator A = projector(scan, voxel);
  Array one(A.domain());
  one.data()[0] = 1;
  const Array shadow = A * one;
  const Image<const float> at = image(ConstVectorView(shadow));
  const FlexibleViews places = pack(scan, voxel);
  double difference = 0, size = 0;
  for (Index v = 0; v < at.n0; ++v) {
    const FlexiblePlace& place = places.views[static_cast<std::size_t>(v)];
    const CellPlace there = place.curve.bent(place.on_flat(0, 0, 0));
    const auto row0 = static_cast<Index>(std::lround(there.row)),
               bin0 = static_cast<Index>(std::lround(there.bin));
    for (Index r = std::max<Index>(row0 - 4, 0); r <= std::min(row0 + 4, at.n1 - 1); ++r)
      for (Index b = std::max<Index>(bin0 - 4, 0); b <= std::min(bin0 + 4, at.n2 - 1); ++b) {
        const double exact = mean_chord(scan, v, r, b, voxel, 4000);
        difference += std::pow(at(v, r, b) - exact, 2), size += exact * exact;
      }
  }
  return std::sqrt(difference / size);
}

/// Errors of the footprint on a flat detector are 0.6 % in the middle and 1.8 % aside, where rays are
/// oblique. Cells of a curved one face the source, so that only those rows are oblique.
TEST(CurvedDetector, EntriesAreMeanChords) {
  const ConeBeam cone{
      {701, 701, 949.0 / 541, 949.0 / 541, 342.3}, regular_angles(12, whole_turn), 541, 949, 350};
  EXPECT_LE(error_of_voxel(curved(cone), {0.3, -0.2, 0.1}), 8e-3);
  EXPECT_LE(error_of_voxel(curved(cone), {100, 150, 2}), 8e-3);
  EXPECT_LE(error_of_voxel(curved(cone), {100, 150, 100}), 2.2e-2);
  EXPECT_LE(error_of_voxel(curved(cone, 10 * degree), {100, 150, 20}), 2.6e-2);  // 1.7 % in the middle
}

/// One volume as bricks see it, and voxel by voxel: places within a brick are those of each voxel.
TEST(CurvedDetector, PlacesWithinBricksAreThoseOfVoxels) {
  const ConeBeam cone{{61, 41, 1.3, 1.1, 27.2}, regular_angles(7, whole_turn), 40, 60, 19.4};  // 38 degrees
  const FlexibleBeam scan = curved(cone, 0.1);
  const VolumeGrid grid{{16, 9, 11}, {1.3, 1.3, 1.3}, {1, -2, 1.5}};
  const LinearOperator A = projector(scan, grid);
  const Array x = random_array(A.domain(), 3), y = A * x;
  Array sum(A.range());
  for (Index z = 0; z < 11; ++z)
    for (Index row = 0; row < 9; ++row)
      for (Index column = 0; column < 16; ++column) {
        const LinearOperator one =
            projector(scan, region(grid, {column, column + 1}, {row, row + 1}, {z, z + 1}));
        Array value(one.domain());
        value.data()[0] = x.data()[(z * 9 + row) * 16 + column];
        one.apply(1, value, 1, sum, default_stream(Device::cpu()));
      }
  // widths within a brick are scaled with the distance alone
  EXPECT_LE(relative_error(y, sum), 6e-3);
}

TEST(CurvedDetector, PairsMatch) {
  const ConeBeam wide{{47, 31, 2.5, 1.9, 20}, regular_angles(5, whole_turn), 45, 70, 14};
  for (const double roll : {0.0, 0.4})
    for (const double pitch : {0.4, 1.1}) {
      const VolumeGrid grid{{23, 19, 21}, {pitch, pitch, pitch}, {1, 2, -1}};
      const Adjointness a = adjointness(projector(curved(wide, roll), grid));
      EXPECT_LE(a.mismatch, tolerance::mismatch);
      EXPECT_NEAR(a.coupling, 1, tolerance::coupling);
    }
  const LinearOperator A = projector(curved(wide), {{9, 8, 5}, {2, 2, 2.2}, {0.3, -0.2, 0.1}});
  const Eigen::MatrixXd forward = dense(A), back = dense(adjoint(A)).transpose();
  EXPECT_LE((forward - back).cwiseAbs().maxCoeff(), tolerance::entries * forward.maxCoeff());
}

/// From far away a cylinder is flat.
TEST(CurvedDetector, OfALargeRadiusIsFlat) {
  const ConeBeam cone{{47, 31, 1, 1, 22.3}, regular_angles(9, whole_turn), 2e6, 3e6, 14.2};
  const VolumeGrid grid{{20, 20, 20}, {1, 1, 1}, {}};
  const Array x = random_array(cone_volume_space(grid), 5);
  FlexibleBeam flat = as_free_views(cone);
  flat.leaning = true;  // the pair for any geometry
  EXPECT_LE(relative_error(projector(curved(cone), grid) * x, projector(flat, grid) * x), 1e-5);
}

constexpr double field = 20;  // mm, the radius of what is seen

/// A cone beam with so many bins over the field with a margin, 22 degrees to either side.
ConeBeam round_field(Index bins, Index rows, Index views) {
  const double cell = 1.15 * 2 * field * 90 / 60 / static_cast<double>(bins);
  return {{bins, rows, cell, cell, 0.5 * static_cast<double>(bins - 1) + 0.25},
          regular_angles(views, whole_turn),
          60,
          90,
          0.5 * static_cast<double>(rows - 1)};
}

Array data_of(const Ellipsoid& body, const FlexibleBeam& scan) {
  Array y(projection_space(scan));
  project({{body}}, scan, {0, scan.detector.rows}, {y.data(), static_cast<std::size_t>(y.size())}, 3);
  return y;
}

struct Inside {
  double mean, apart;  ///< mean of the inner half; RMS difference from a flat detector in the inner 0.9
};

/// A ball or a disc of 1 by the filter, from exact data.
Inside inside(const Ellipsoid& body, const ConeBeam& cone, Index slices) {
  const double pitch = 2 * field / static_cast<double>(cone.detector.bins);
  const auto n = 2 * static_cast<Index>(body.semi_axes[0] / pitch) + 1;
  const VolumeGrid grid{{n, n, slices}, {pitch, pitch, pitch}, body.centre};
  const FlexibleBeam flat = as_free_views(cone), round = curved(cone);
  const Array a = fbp(flat, grid) * data_of(body, flat), b = fbp(round, grid) * data_of(body, round);
  Inside found{};
  double near = 0, all = 0;
  const auto from_middle = [](Index k, Index count) {
    return static_cast<double>(k) - 0.5 * static_cast<double>(count - 1);
  };
  for (Index i = 0; i < a.size(); ++i) {
    const double away =
        pitch / body.semi_axes[0] *
        std::hypot(from_middle(i % n, n), from_middle(i / n % n, n), from_middle(i / n / n, slices));
    if (away < 0.5) found.mean += static_cast<double>(b.data()[i]), ++near;
    if (away < 0.9) found.apart += std::pow(a.data()[i] - b.data()[i], 2), ++all;
  }
  return {found.mean / near, std::sqrt(found.apart / all)};
}

/// Balls in a cone, and discs in a fan of one row, as finely as this needs: errors beside edges fall with the
/// size of cells.
TEST(CurvedDetector, TheFilterReadsWhatAFlatOneReads) {
  const Vector3 aside{0.6 * field * std::cos(0.3), 0.6 * field * std::sin(0.3), 0};
  for (const Vector3& centre : {Vector3{}, aside}) {
    EXPECT_NEAR(inside({1, {4, 4, 4}, centre, 0}, round_field(96, 24, 240), 9).mean, 1,
                tolerance::ball_on_orbit);
    const Inside disc = inside({1, {4, 4, INFINITY}, centre, 0}, round_field(256, 1, 600), 1);
    EXPECT_NEAR(disc.mean, 1, tolerance::ball_on_orbit);
    EXPECT_LE(disc.apart, 2e-3);
  }
}

}  // namespace
}  // namespace tandem::test
