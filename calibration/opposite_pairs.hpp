#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "axis_line.hpp"
#include "crossing_rays.hpp"
#include "frame_stack.hpp"
#include "views_of_turn.hpp"

namespace tandem::calibration {

constexpr double least_share = 0.25;  ///< that is no noise in what crossing rays differ by

/// Parts of rows or distances, so wide that few of their cells share noise with others.
constexpr int parts_of_cells = 8;

/// Sums over pairs of rays: of squares of differences, and their slopes by axis, roll and midplane. Of
/// parallel rays the lean of the axis along the beam, rad, has the place of the midplane.
struct PairSums {
  double squares = 0, energy = 0;
  double noise = 0;  ///< what of the squares is noise of crossing rays, as it is thought
  Eigen::Vector3d slope = Eigen::Vector3d::Zero();
  Eigen::Matrix3d curvature = Eigen::Matrix3d::Zero();  ///< by Gauss and Newton
  void add(const PairSums& o) {
    squares += o.squares, energy += o.energy, noise += o.noise, slope += o.slope, curvature += o.curvature;
  }
};

/// The same parted by rows and by distances from the axis, and the slopes of views.
struct Parted {
  PairSums all{};
  std::array<std::array<Eigen::Vector3d, parts_of_cells>, 2> parts{};
  std::vector<Eigen::Vector3d> views{};
  Parted();
  void add(const Parted& view);
  /// What differs between opposite rays, as a share of what they see.
  double misfit() const { return all.energy > 0 ? all.squares / all.energy : 1; }
  double made_least() const { return all.squares - all.noise; }  ///< by a descent
};

/// Where opposite rays of a whole turn cross: those of a point source beside the midplane, and parallel ones
/// by as much everywhere, if the axis leans along the beam.
enum class Crossing { nowhere, beside_midplane, everywhere };
Crossing crossing_of(const FrameStack& frames);

/// Pairs of opposite rays of a stack about any axis, in rows about that of a line.
class OppositePairs {
 public:
  OppositePairs(const FrameStack& frames, const AxisLine& about, Crossing where);
  Index count() const { return views_.size(); }
  double reach() const { return reach_; }
  double height() const { return above_ + below_; }
  /// By how many rows opposite rays at the edge of the field come apart, for each row over the midplane, or
  /// rad by which an axis leans.
  double apart() const { return 2 * (where_ == Crossing::everywhere ? 1 : bin_angle_) * reach_; }
  /// What of `CrossingRays` is no noise, and what of it counts as none.
  double share() const { return crossing_ ? crossing_->share() : 1; }
  double told_share() const { return std::max(least_share, share()); }
  bool of_parallel_rays() const { return bin_angle_ == 0; }
  bool cross() const { return where_ == Crossing::beside_midplane; }
  bool cross_everywhere() const { return where_ == Crossing::everywhere; }
  /// Whether there are as many rows above the midplane as below it; it is not sought elsewhere.
  bool is_even() const { return is_even_; }

  /// How many bins a first descent goes from ray to ray: of very many rays some say enough.
  Index quick() const;

  /// `every`: how many bins it is from ray to ray.
  Parted at(const AxisLine& line, Index every = 1) const;

 private:
  /// A line, and the cosine and the sine of its roll.
  struct Rolled {
    AxisLine line;
    double c, s;
  };
  Parted of_view(const Rolled& line, Index k, Index every) const;
  void add_pair(Parted& all, const Rolled& line, Index view, double side, double y,
                const Between& opposite) const;
  bool inside(const std::array<double, 2>& at) const;
  Sample between(const Between& views, const std::array<double, 2>& at) const;
  Eigen::Vector3d slopes(const Sample& a, const Sample& b, double x, double y, const Rolled& line,
                         double per_row) const;

  const FrameStack& frames_;
  ViewsOfTurn turn_;
  double bin_angle_, row_, reach_ = 0, above_ = 0, below_ = 0;
  Crossing where_;
  bool is_whole_, by_row_ = false, is_even_ = false;
  std::vector<Index> views_{};
  std::optional<CrossingRays> crossing_{};
};

}  // namespace tandem::calibration
