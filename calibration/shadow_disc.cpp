#include "shadow_disc.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "median.hpp"
#include "ray_across.hpp"

namespace tandem::calibration {

namespace {

constexpr double threshold = 1.0 / 8;  // share of the peak: above blur and noise, below the inside
constexpr double noises = 4;           // two neighbours hardly are so far above air by noise

std::string option() { return spelled("support") + " disc: "; }
std::string remedy() { return "; give " + spelled("support") + " FILE, a volume that is zero outside"; }

/// Line integrals from the level of air, which the outer bins of each line have unless an object is there.
class EdgedShadow {
 public:
  EdgedShadow(std::vector<float> lines, const FlexibleBeam& scan, Index rows)
      : lines_(std::move(lines)),
        views_(views_of(scan)),
        rows_(rows),
        bins_(scan.detector.bins),
        outer_(std::max<Index>(2, bins_ / 32)) {
    find_peak();
    std::vector<double> noise;
    for (Index line = 0; line < views_ * rows_; ++line) noise.push_back(level(line));
    noise_ = median_of(noise);
    find_peak();
  }
  double peak() const { return peak_; }
  double noise() const { return noise_; }

  /// The outermost places of a row of a view where it reaches a line integral, in bins; none if it does not.
  /// At the first bin or the last one the shadow is cut off.
  struct Edges {
    double low, high;
  };
  std::optional<Edges> edges(Index view, Index row, double least) const {
    const float* const at = line_at(view * rows_ + row);
    const Index low = first_at(at, least, 0, 1), high = first_at(at, least, bins_ - 1, -1);
    if (low < 0 || high < 0) return {};
    return Edges{low == 0 ? 0.0 : low - 1 + between(at[low - 1], at[low], least),
                 high == bins_ - 1 ? 1.0 * high : high + 1 - between(at[high + 1], at[high], least)};
  }

 private:
  const float* line_at(Index line) const { return lines_.data() + line * bins_; }

  /// The median over views of the largest value that two neighbours reach.
  void find_peak() {
    std::vector<double> largest(views_, 0.0);
    for (Index line = 0; line < views_ * rows_; ++line)
      for (Index b = 1; b < bins_; ++b)
        largest[line / rows_] =
            std::max<double>(largest[line / rows_], std::min(line_at(line)[b - 1], line_at(line)[b]));
    peak_ = median_of(largest);
  }

  /// Takes the level of air from a line. @returns the noise of its outer bins
  double level(Index line) {
    float* const at = lines_.data() + line * bins_;
    std::vector<double> outer;
    double squares = 0;
    for (const Index first : {Index{0}, bins_ - outer_})
      for (Index b = first; b < first + outer_; ++b) {
        outer.push_back(at[b]);
        if (b > first) squares += std::pow(at[b] - at[b - 1], 2) / 2;
      }
    const double air = median_of(outer);
    if (air < threshold * peak_)
      for (Index b = 0; b < bins_; ++b) at[b] -= static_cast<float>(air);
    return std::sqrt(squares / (2 * (outer_ - 1)));
  }

  /// The first bin from an end that is not below a value, as its neighbour behind is; -1 if there is none.
  Index first_at(const float* at, double least, Index from, Index step) const {
    for (Index b = from; b + step >= 0 && b + step < bins_; b += step)
      if (at[b] >= least && at[b + step] >= least) return b;
    return -1;
  }
  /// Near the edge of a disc the squares of line integrals are straight.
  static double between(double outside, double inside, double at) {
    const double low = std::pow(std::max(0.0, outside), 2);
    return (at * at - low) / (inside * inside - low);
  }

  std::vector<float> lines_;
  Index views_, rows_, bins_, outer_;
  double peak_ = 0, noise_ = 0;
};

/// Equations (x, y, +-1) . (centre, R) = offset of all edges, of which `used` count.
struct Tangents {
  Eigen::MatrixXd lines;
  Eigen::VectorXd offsets;

  Eigen::Vector3d solved(const Eigen::VectorXd& used) const {
    return (lines.transpose() * used.asDiagonal() * lines)
        .ldlt()
        .solve(lines.transpose() * used.cwiseProduct(offsets));
  }
  Eigen::VectorXd residuals(const Eigen::Vector3d& circle) const { return lines * circle - offsets; }
};

/// The outermost ones of all rows in each view.
Tangents tangents_at(const EdgedShadow& shadow, const FlexibleBeam& scan, const std::vector<Index>& rows,
                     double least) {
  std::vector<std::pair<RayAcross, double>> all;
  Index cut = 0;
  const Index views = views_of(scan), bins = scan.detector.bins;
  for (Index view = 0; view < views; ++view) {
    std::optional<RayAcross> low, high;
    bool is_cut = false;
    for (Index k = 0; k < std::ssize(rows); ++k) {
      const auto edges = shadow.edges(view, k, least);
      if (!edges) continue;
      is_cut = is_cut || edges->low <= 0 || edges->high >= bins - 1;
      const RayAcross below = ray_across(scan, view, rows[k], edges->low),
                      above = ray_across(scan, view, rows[k], edges->high);
      if (!low || below.offset < low->offset) low = below;
      if (!high || above.offset > high->offset) high = above;
    }
    cut += is_cut;
    if (low) all.emplace_back(*low, -1), all.emplace_back(*high, 1);
  }
  require<GeometryError>(cut == 0, option(), "the object's shadow is cut off at an end of the detector in ",
                         cut, " of ", views, " views", remedy());
  require<GeometryError>(std::ssize(all) > views, option(), "no object is found: in ",
                         views - std::ssize(all) / 2, " of ", views, " views nothing stands out of the noise",
                         remedy());
  Tangents made{Eigen::MatrixXd(all.size(), 3), Eigen::VectorXd(all.size())};
  for (Index k = 0; k < std::ssize(all); ++k) {
    const auto& [line, side] = all[k];
    made.lines.row(k) << line.x, line.y, side;
    made.offsets(k) = line.offset;
  }
  return made;
}

/// 1 for edges that others agree with, 0 for those by a defect of the detector: a few, else they are the
/// object's.
Eigen::VectorXd agreeing(const Tangents& all) {
  constexpr double far = 6,
                   few = 0.02;  // usual distances, more than those of any ellipse; share of the edges
  const Eigen::VectorXd each = Eigen::VectorXd::Ones(all.offsets.size());
  const Eigen::VectorXd away = all.residuals(all.solved(each)).cwiseAbs();
  const double most = far * median_of(std::vector<double>(away.begin(), away.end()));
  const Eigen::VectorXd used = (away.array() <= most).cast<double>();
  return used.sum() >= (1 - few) * each.sum() ? used : each;
}

}  // namespace

ShadowDisc fit_shadow_disc(std::vector<float> lines, const FlexibleBeam& scan,
                           const std::vector<Index>& rows) {
  constexpr double most = 0.01, uncertain = 0.05;  // shares of the radius
  const EdgedShadow shadow(std::move(lines), scan, std::ssize(rows));
  const double least = std::max(threshold * shadow.peak(), noises * shadow.noise());
  require<GeometryError>(shadow.peak() > 0 && 4 * least <= shadow.peak(), option(),
                         "no object is found: the largest line integral, ", shadow.peak(),
                         ", does not stand out of the noise, ", shadow.noise(), remedy());
  const Tangents at_edge = tangents_at(shadow, scan, rows, least),
                 within = tangents_at(shadow, scan, rows, 2 * least);
  const Eigen::VectorXd used = agreeing(at_edge);
  const Eigen::Vector3d circle = at_edge.solved(used), inner = within.solved(agreeing(within));
  const double r = circle(2), inner_r = inner(2), bin = width_of_bin(scan, rows[0]);
  const double radius = std::sqrt(r * r + std::max(0.0, r * r - inner_r * inner_r) / 3);
  const double residual = std::sqrt(at_edge.residuals(circle).cwiseAbs2().dot(used) / used.sum());
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> normal(at_edge.lines.transpose() * used.asDiagonal() *
                                                              at_edge.lines);
  const double doubt = std::max(residual, 0.1 * bin) / std::sqrt(std::max(normal.eigenvalues()(0), 1e-300));
  require<GeometryError>(r > 0 && doubt <= uncertain * radius, option(),
                         "the views see the object from too few directions, so that its centre is uncertain "
                         "by ",
                         doubt, " at a radius of ", radius, remedy());
  require<GeometryError>(residual <= std::max(most * radius, bin), option(),
                         "the object is no disc about the axis' direction: the edges of its shadow are ",
                         residual, " (rms) from those of a disc of radius ", radius,
                         ", more than a hundredth", remedy());
  return {{circle(0), circle(1), radius}, residual, static_cast<Index>(used.sum())};
}

}  // namespace tandem::calibration
