// The hierarchical pair in odd geometries that are drawn: few voxels, views, rows and bins of any number, an
// axis and a grid far aside, angles in any order, with gaps and in heaps, a source near the grid, voxels
// wider and narrower than cells.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "../../core/parallel.hpp"
#include "../../kernels/hierarchical.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/hierarchical.hpp"
#include "../../operators/random.hpp"
#include "../support/hierarchical_sum.hpp"
#include "../support/operators.hpp"
#include "../support/poisoned_memory.hpp"
#include "../support/property.hpp"
#include "../support/tolerances.hpp"

namespace tandem::test {
namespace {

Index any(Index low, Index high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<Index>(low, high + 1));
}
double between(double low, double high) {
  return low + (high - low) * static_cast<double>(any(0, 1000)) / 1000;
}
/// Evenly in the logarithm.
double factor(double low, double high) { return low * std::pow(high / low, between(0, 1)); }

/// Angles of a kind: in order, falling, shuffled, with gaps, in heaps, all alike, over several turns, or at
/// the borders of quarters and groups.
std::vector<double> drawn_angles(Index views) {
  const Index kind = any(0, 8);
  const double arc = kind == 3 ? factor(1e-12, 1e-2) : kind == 4 ? between(6, 60) : between(0.1, whole_turn);
  const double first = between(-8, 8);
  std::vector<double> angles;
  Random random(static_cast<std::uint64_t>(any(1, 1000)));
  for (Index k = 0; k < views; ++k) {
    const double share = static_cast<double>(k) / static_cast<double>(views);
    const double place = kind == 5 ? std::floor(3 * share) / 3 : kind == 6 ? random.uniform() : share;
    angles.push_back(kind == 7   ? static_cast<double>(any(-20, 20)) * std::numbers::pi / 8
                     : kind == 8 ? first
                                 : first + arc * place);
  }
  if (kind == 1) std::ranges::reverse(angles);
  if (kind == 2)
    for (std::size_t k = angles.size(); k > 1; --k) std::swap(angles[k - 1], angles[below(random, k)]);
  return angles;
}

/// The middle of `count` cells, aside by some cells, by half of them, or by more than all of them.
double drawn_middle(Index count) {
  const double size = static_cast<double>(count);
  const std::array<double, 3> most{0.5, 0.5 * size, 1.5 * size - 0.5};
  const double reach = most[static_cast<std::size_t>(any(0, 2))];
  return 0.5 * (size - 1) + between(-reach, reach);
}

struct Drawn {
  ConeBeam scan;
  VolumeGrid grid;
  Execution how;
  AlongRows rows;

  LinearOperator A() const { return hierarchical_projector(scan, grid, Device::cpu(), how, rows); }
  std::shared_ptr<const kernels::HierarchicalViews> plan() const {
    return kernels::pack_hierarchical(scan, grid, kernels::grouping_on(Device::cpu()),
                                      hierarchical_accuracy(how), rows);
  }
};

std::ostream& operator<<(std::ostream& out, const Drawn& d) {
  const Detector& e = d.scan.detector;
  out << "grid " << d.grid.size[0] << " x " << d.grid.size[1] << " x " << d.grid.size[2] << ", pitch "
      << d.grid.pitch[0] << ", " << d.grid.pitch[2] << ", centre " << d.grid.centre[0] << ", "
      << d.grid.centre[1] << ", " << d.grid.centre[2] << "; " << e.rows << " rows x " << e.bins
      << " bins, pitch " << e.bin_pitch << ", " << e.row_pitch << ", axis " << e.axis_bin << ", midplane "
      << d.scan.midplane_row << ", sod " << d.scan.sod << ", sdd " << d.scan.sdd << ", accuracy "
      << d.how.accuracy << ", rows " << static_cast<int>(d.rows) << ", angles";
  for (const double a : d.scan.angles) out << ' ' << a;
  return out;
}

/// `fewest`: the fewest bins and rows. The source is so near that a corner of the grid is up to 0.6 of its
/// distance from the axis.
Drawn drawn(Index fewest = 1) {
  Drawn d;
  const bool fan = any(0, 3) == 0;
  const double pitch = factor(0.2, 5);
  d.grid.size = {any(1, 21), any(1, 21), fan ? 1 : any(1, 21)};
  d.grid.pitch = {pitch, pitch, pitch * factor(0.3, 3)};
  const double aside = pitch * std::array<double, 3>{0, 3, 30}[static_cast<std::size_t>(any(0, 2))];
  d.grid.centre = {between(-aside, aside), between(-aside, aside), fan ? 0 : between(-aside, aside)};
  double radius = 0;
  for (const Index ix : {Index{0}, d.grid.size[0] - 1})
    for (const Index iy : {Index{0}, d.grid.size[1] - 1})
      radius =
          std::max(radius, std::hypot(d.grid.x(static_cast<double>(ix)), d.grid.y(static_cast<double>(iy))));
  const double cell = pitch * factor(0.25, 4);
  d.scan.sod = std::max(radius / factor(0.02, kernels::widest_grid * 0.9999),
                        1.0001 * kernels::fewest_cells_to_source * std::max(cell, 1.05 * pitch));
  d.scan.sdd = d.scan.sod * factor(1.01, 5);
  const Index rows = fan ? 1 : any(std::max<Index>(fewest, 8), 40), bins = any(fewest, 40);
  const double larger = d.scan.magnification();
  d.scan.detector = {bins, rows, larger * cell, larger * d.grid.pitch[2] * factor(0.25, 4),
                     drawn_middle(bins)};
  d.scan.midplane_row = fan ? between(-0.4, 0.4) : drawn_middle(rows);
  while (!kernels::hierarchical_holds(d.scan, d.grid))
    d.scan.sod *= 1.1, d.scan.sdd *= 1.1;  // rays too steep
  d.scan.angles = drawn_angles(any(0, 1) == 0 ? any(1, 5) : any(6, 90));
  const std::array<double, 3> accuracies{Execution{}.accuracy, 3e-3, 1e-3};
  d.how.accuracy = accuracies[static_cast<std::size_t>(any(0, 2))];
  d.rows = any(0, 1) == 0 ? AlongRows::exactly : AlongRows::as_footprints;
  return d;
}

Array signs(const Space& space, std::uint64_t seed) {
  Random random(seed);
  return drawn_array(space, [&] { return random.uniform() < 0.5 ? -1.0f : 1.0f; });
}

double dot(const Array& a, const Array& b) {
  double sum = 0;
  for (Index i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a.data()[i]) * static_cast<double>(b.data()[i]);
  return sum;
}

/// What views of independent numbers of size 1 add up to at a place, by chance.
double size_of_sum(const ConeBeam& scan, const kernels::ViewWeight& weight, double x, double y) {
  double sum = 0;
  for (const double angle : scan.angles)
    sum += std::pow(weight.at(scan.sod / (scan.sod - x * std::sin(angle) + y * std::cos(angle))), 2);
  return std::sqrt(sum);
}

TEST(HierarchicalEdges, PairsMatch) {
  EXPECT_TRUE(holds("<A x, y> = <x, A'y>", [] {
    const Drawn d = drawn();
    RC_LOG() << d << '\n';
    const PoisonedMemory poisoned;
    const LinearOperator A = d.A();
    const Array x = signs(A.domain(), 3), y = signs(A.range(), 4), seen = A * x, back = adjoint(A) * y;
    // a voxel beside the detector leaves less than the rounding of what it cancels in
    const double least = 1e-2 * size_of_sum(d.scan, d.plan()->view_weight(), 0, 0);
    RC_ASSERT(std::abs(dot(seen, y) - dot(x, back)) <=
              tolerance::hierarchical_products *
                  std::sqrt(std::max(dot(seen, seen), least * least) * dot(y, y)));
  }));
}

TEST(HierarchicalEdges, BitsDoNotDependOnThreads) {
  EXPECT_TRUE(holds("one thread makes the bits of three", [] {
    const Drawn d = drawn();
    RC_LOG() << d << '\n';
    const LinearOperator A = d.A();
    const Array x = signs(A.domain(), 3), y = signs(A.range(), 4);
    const auto both = [&](int threads) {
      const ThreadLimit limit(threads);
      return std::pair{A * x, adjoint(A) * y};
    };
    const auto one = both(1), three = both(3);
    RC_ASSERT(same_bits(one.first, three.first));
    RC_ASSERT(same_bits(one.second, three.second));
  }));
}

/// Numbers of noise that is smooth along bins and rows, and falls to zero before the ends of the detector, in
/// each view another one: a Gaussian of two cells leaves 7e-3 of a wave of a quarter cycle.
Array smooth_noise(const Space& space, double wide, double tall) {
  Array noise(space);
  const Image<float> to = image(VectorView(noise));
  Random random(6);
  const auto smoothed = [](std::vector<double>& line, double width) {
    if (line.size() == 1) return;
    const double size = static_cast<double>(line.size());
    std::vector<double> from = line;
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = 0;
      for (std::size_t k = 0; k < line.size(); ++k) {
        const double at = static_cast<double>(k), apart = static_cast<double>(i) - at;
        if (std::min(at, size - 1 - at) >= std::min(3 * width, 0.5 * size - 1))
          line[i] += from[k] * std::exp(-0.5 * apart * apart / width / width);
      }
    }
  };
  std::vector<double> line;
  for (Index v = 0; v < to.n0; ++v) {
    for (Index row = 0; row < to.n1; ++row) {
      line.clear();
      for (Index bin = 0; bin < to.n2; ++bin) line.push_back(random.uniform() - 0.5);
      smoothed(line, wide);
      for (Index bin = 0; bin < to.n2; ++bin)
        to(v, row, bin) = static_cast<float>(line[static_cast<std::size_t>(bin)]);
    }
    for (Index bin = 0; bin < to.n2; ++bin) {
      line.clear();
      for (Index row = 0; row < to.n1; ++row) line.push_back(static_cast<double>(to(v, row, bin)));
      smoothed(line, tall);
      for (Index row = 0; row < to.n1; ++row)
        to(v, row, bin) = static_cast<float>(line[static_cast<std::size_t>(row)]);
    }
  }
  return noise;
}

double largest(const Array& a) {
  return std::abs(*std::max_element(a.data(), a.data() + a.size(),
                                    [](float b, float c) { return std::abs(b) < std::abs(c); }));
}

/// What is back-projected from smooth noise, beside the sum over views with the same taps.
class BesideTheSum {
 public:
  explicit BesideTheSum(const Drawn& d)
      : d_(d),
        n_(d.plan()),
        q_(smooth_noise(projection_space(d.scan), 2 * n_->step_u / n_->cell_u(),
                        2 * n_->step_v / n_->cell_v())),
        x_(adjoint(d.A()) * q_),
        sum_(d.scan, *n_, image(ConstVectorView(q_))) {}

  /// By how much a drawn voxel is off, and what views of independent numbers would add up to there.
  std::pair<double, double> anywhere() const {
    const Image<const float> seen = image(ConstVectorView(x_));
    const Index iz = any(0, seen.n0 - 1), iy = any(0, seen.n1 - 1), ix = any(0, seen.n2 - 1);
    const double x = d_.grid.x(static_cast<double>(ix)), y = d_.grid.y(static_cast<double>(iy)),
                 z = d_.grid.z(static_cast<double>(iz));
    return {static_cast<double>(seen(iz, iy, ix)) - sum_.at(x, y, z),
            largest(q_) * size_of_sum(d_.scan, n_->view_weight(), x, y)};
  }

 private:
  const Drawn& d_;
  std::shared_ptr<const kernels::HierarchicalViews> n_;
  Array q_, x_;
  SumOverViews sum_;
};

TEST(HierarchicalEdges, AreTheSumOverViews) {
  EXPECT_TRUE(holds("voxels are sums over views, with the same taps", [] {
    const Drawn d = drawn(16);
    RC_LOG() << d << '\n';
    const BesideTheSum beside(d);
    double difference = 0, size = 0;
    for (int k = 0; k < 200; ++k) {
      const auto [off, by_chance] = beside.anywhere();
      difference += std::pow(off, 2), size += std::pow(by_chance, 2);
    }
    RC_LOG() << "error " << std::sqrt(difference / size) << '\n';
    RC_ASSERT(difference <= std::pow(tolerance::hierarchical_sum_of_few, 2) * size);
  }));
}

/// Puts the midplane far below or above the detector, and the grid where it is seen, so that the steepest ray
/// climbs by so many rows while it passes a column.
void raise_rows(Drawn& d, double climbed) {
  const Detector& e = d.scan.detector;
  const double larger = d.scan.magnification(), wide = std::max(e.bin_pitch, larger * d.grid.pitch[0]),
               tall = std::max(e.row_pitch, larger * d.grid.pitch[2]), size = static_cast<double>(e.rows),
               highest = std::max(0.5 * (size - 1), climbed * tall / wide * d.scan.sdd / e.row_pitch);
  const double before = d.scan.midplane_row;
  d.scan.midplane_row = any(0, 1) == 0 ? highest : size - 1 - highest;
  d.grid.centre[2] += (before - d.scan.midplane_row) * e.row_pitch / larger;
}

/// Where the midplane is far aside, rows of the detector are steep planes: as the frame of a group turns into
/// that of a view, they move by many rows.
TEST(HierarchicalEdges, SeeRowsFarFromTheMidplane) {
  EXPECT_TRUE(holds("voxels far above the midplane are sums over views", [] {
    Drawn d = drawn(16);
    while (d.scan.detector.rows == 1) d = drawn(16);
    raise_rows(d, between(0.2, 0.999 * kernels::most_rows_climbed));
    RC_LOG() << d << '\n';
    const BesideTheSum beside(d);
    double difference = 0;
    for (int k = 0; k < 300; ++k) {
      const auto [off, by_chance] = beside.anywhere();
      difference = std::max(difference, std::abs(off) / by_chance);
    }
    RC_LOG() << "error " << difference << '\n';
    // the worst of 300 numbers is some three to four times their root mean square
    RC_ASSERT(difference <= 4 * tolerance::hierarchical_sum_of_few);
  }));
}

/// Part of 0 to `count`.
Range drawn_part(Index count) {
  const Index first = any(0, count - 1);
  return {first, any(first + 1, count)};
}

TEST(HierarchicalEdges, HaveTheSameTilesAndSlabs) {
  EXPECT_TRUE(holds("a part of a volume has the bits of the whole, or nearly so if it begins between", [] {
    const Drawn d = drawn();
    const Range along_x = drawn_part(d.grid.size[0]), along_y = drawn_part(d.grid.size[1]),
                along_z = drawn_part(d.grid.size[2]);
    RC_LOG() << d << "; " << along_x.first << ':' << along_x.last << ", " << along_y.first << ':'
             << along_y.last << ", " << along_z.first << ':' << along_z.last << '\n';
    Drawn part = d;
    part.grid = region(d.grid, along_x, along_y, along_z);
    const LinearOperator A = d.A();
    const Array q = smooth_noise(A.range(), 2, 2), all = adjoint(A) * q, some = adjoint(part.A()) * q;
    const Image<const float> whole = image(ConstVectorView(all)), own = image(ConstVectorView(some));
    double difference = 0;
    for (Index iz = 0; iz < own.n0; ++iz)
      for (Index iy = 0; iy < own.n1; ++iy)
        for (Index ix = 0; ix < own.n2; ++ix)
          difference = std::max(difference,
                                std::abs(static_cast<double>(own(iz, iy, ix)) -
                                         whole(along_z.first + iz, along_y.first + iy, along_x.first + ix)));
    const double size = largest(q) * size_of_sum(d.scan, d.plan()->view_weight(), 0, 0);
    RC_LOG() << "difference " << difference / size << '\n';
    RC_ASSERT(difference <= tolerance::hierarchical_drawn_part * size);
  }));
}

/// A source so near that neighbouring cells differ by a tenth of a radian.
TEST(HierarchicalEdges, RefuseASourceFewCellsAway) {
  ConeBeam scan{{15, 9, 2, 2, 7}, {0, 1, 2}, 9.9, 19.8, 4};
  const VolumeGrid grid{{3, 3, 3}, {1, 1, 1}, {}};
  EXPECT_FALSE(kernels::hierarchical_holds(scan, grid));
  expect_refused([&] { hierarchical_projector(scan, grid); }, "sod = 9.9 mm is fewer than 10 cells");
  scan.sod = 10.1, scan.sdd = 20.2;
  EXPECT_TRUE(kernels::hierarchical_holds(scan, grid));
  hierarchical_projector(scan, grid);
}

TEST(HierarchicalEdges, RefuseRaysThatAreTooSteep) {
  ConeBeam scan{{15, 9, 2, 2, 7}, {0, 1, 2}, 20, 40, 18.1};  // 18.1 rows of 2 mm over 40 mm
  const VolumeGrid grid{{3, 3, 3}, {1, 1, 1}, {}};
  EXPECT_FALSE(kernels::hierarchical_holds(scan, grid));
  expect_refused([&] { hierarchical_projector(scan, grid); }, "the steepest rays climb by 0.905 rows");
  scan.midplane_row = 13.9;
  EXPECT_TRUE(kernels::hierarchical_holds(scan, grid));
  hierarchical_projector(scan, grid);
}

/// The smallest number above 0 has no quarter, so angles that differ by it cannot be told apart by halving.
TEST(HierarchicalEdges, AnglesThatHardlyDifferEndInOneGroup) {
  ConeBeam scan{{15, 9, 2, 2, 7}, std::vector<double>(40, 0.0), 20, 40, 4};
  scan.angles.back() = std::numeric_limits<double>::denorm_min();
  ConeBeam same = scan;
  same.angles.back() = 0;
  const VolumeGrid grid{{5, 5, 5}, {1, 1, 1}, {}};
  const LinearOperator A = hierarchical_projector(scan, grid);
  const Array x = random_array(A.domain(), 3);
  EXPECT_TRUE(same_bits(A * x, hierarchical_projector(same, grid) * x));
}

}  // namespace
}  // namespace tandem::test
