#include "ball_shadows.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

#include "../core/rounding.hpp"

namespace tandem::calibration {

namespace {

struct Frame {
  std::span<const float> values;
  Index rows, bins;
  double at(Index row, Index bin) const { return values[row * bins + bin]; }
};

/// The threshold: a quarter of the way from the median to the peak. The peak is one of several cells, so that
/// a single bad cell is no peak.
double threshold_of(const Frame& frame) {
  constexpr std::ptrdiff_t cells_of_peak = 9;
  std::vector<float> sorted(frame.values.begin(), frame.values.end());
  const std::ptrdiff_t size = sorted.size();
  const auto middle = sorted.begin() + size / 2, peak = sorted.end() - std::min(size, cells_of_peak);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double background = *middle;
  std::nth_element(middle, std::max(middle, peak), sorted.end());
  return background + 0.25 * ((*std::max(middle, peak)) - background);
}

using Cells = std::vector<std::array<Index, 2>>;  ///< row and bin

/// A number for each group of touching cells above the threshold; 0 for other cells.
struct Labels {
  std::vector<int> of_cell;
  std::vector<Cells> cells;
};

Labels connected(const Frame& frame, double threshold) {
  Labels labels{std::vector<int>(frame.values.size(), 0), {}};
  const auto label = [&](Index row, Index bin) -> int& { return labels.of_cell[row * frame.bins + bin]; };
  for (Index row = 0; row < frame.rows; ++row)
    for (Index bin = 0; bin < frame.bins; ++bin) {
      if (label(row, bin) != 0 || !(frame.at(row, bin) > threshold)) continue;
      Cells cells{{row, bin}};
      const int number = int_of(labels.cells.size()) + 1;
      label(row, bin) = number;
      for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto [r, b] = cells[k];
        for (Index y = std::max<Index>(r - 1, 0); y <= std::min(r + 1, frame.rows - 1); ++y)
          for (Index x = std::max<Index>(b - 1, 0); x <= std::min(b + 1, frame.bins - 1); ++x)
            if (label(y, x) == 0 && frame.at(y, x) > threshold) {
              label(y, x) = number;
              cells.push_back({y, x});
            }
      }
      labels.cells.push_back(std::move(cells));
    }
  return labels;
}

/// The mean place of some cells, their covariance, and their number or weight.
struct Moments {
  double weight = 0;
  Eigen::Vector2d mean = Eigen::Vector2d::Zero();
  Eigen::Matrix2d covariance = Eigen::Matrix2d::Zero();
};

template <class Weight>
Moments moments(const Cells& cells, const Weight& weight) {
  Moments m;
  for (const auto& [row, bin] : cells) {
    const double w = weight(row, bin);
    const Eigen::Vector2d place(bin, row);
    m.weight += w, m.mean += w * place, m.covariance += w * place * place.transpose();
  }
  m.mean /= m.weight;
  m.covariance = m.covariance / m.weight - m.mean * m.mean.transpose();
  return m;
}

/// The eigenvalues, ascending, of the covariance of cells that are `size` times as wide as they are high.
Eigen::Vector2d axes_of(const Moments& m, double size) {
  const Eigen::Vector2d scale{size, 1};
  const Eigen::Matrix2d square = scale.asDiagonal() * m.covariance * scale.asDiagonal();
  return Eigen::SelfAdjointEigenSolver<Eigen::Matrix2d>(square, Eigen::EigenvaluesOnly).eigenvalues();
}

/// Whether a spot is an ellipse and nearly a circle. The spot is an ellipse if its area is the area of the
/// ellipse with the covariance of the spot.
bool is_round(const Cells& cells, double size) {
  constexpr double fewest = 5, longest = 2.0, nearly = 0.2;  // squared ratio of axes: a wide cone makes 1.5
  const double count = cells.size();
  if (count < fewest) return false;
  const Eigen::Vector2d axes = axes_of(moments(cells, [](Index, Index) { return 1.0; }), size);
  const double ellipse = 4 * std::numbers::pi * std::sqrt(axes[0] * axes[1]) / size;
  return axes[1] < longest * axes[0] && std::abs(ellipse - count) < nearly * count + std::sqrt(count);
}

/// The cells of a spot with a margin, and the cells of a rim about them; none if another spot or the edge of
/// the frame is there.
struct Surroundings {
  Cells within, rim;
};

std::optional<Surroundings> surroundings(const Frame& frame, const Labels& labels, std::size_t number) {
  const Cells& cells = labels.cells[number];
  const auto unit = [](Index, Index) { return 1.0; };
  const Moments m = moments(cells, unit);
  const Eigen::Matrix2d inverse = (4 * m.covariance).inverse();
  constexpr double margin = 2, rim = 2;  // cells
  const double radius = 2 * std::sqrt(m.covariance.trace() / 2),
               grown = 1 + (0.15 * radius + margin) / radius, end = grown + rim / radius;
  const Eigen::Vector2d half = 2 * end * m.covariance.diagonal().cwiseSqrt();
  const auto first = [&](int k) { return floor_index(m.mean[k] - half[k]); };
  const auto last = [&](int k) { return ceil_index(m.mean[k] + half[k]); };
  if (first(0) < 0 || first(1) < 0 || last(0) >= frame.bins || last(1) >= frame.rows) return std::nullopt;
  Surroundings around;
  for (Index row = first(1); row <= last(1); ++row)
    for (Index bin = first(0); bin <= last(0); ++bin) {
      const Eigen::Vector2d off{bin - m.mean.x(), row - m.mean.y()};
      const double from_middle = std::sqrt(off.dot(inverse * off));
      if (from_middle > end) continue;
      const int label = labels.of_cell[row * frame.bins + bin];
      if (label != 0 && label != static_cast<int>(number) + 1) return std::nullopt;
      (from_middle > grown ? around.rim : around.within).push_back({row, bin});
    }
  return around;
}

/// The plane through the values of some cells, by least squares: its value at row and bin 0, and its slopes.
Eigen::Vector3d plane_through(const Frame& frame, const Cells& cells, const Eigen::Vector2d& middle) {
  Eigen::Matrix3d square = Eigen::Matrix3d::Zero();
  Eigen::Vector3d right = Eigen::Vector3d::Zero();
  for (const auto& [row, bin] : cells) {
    const Eigen::Vector3d terms{1, bin - middle.x(), row - middle.y()};
    square += terms * terms.transpose(), right += frame.at(row, bin) * terms;
  }
  return square.ldlt().solve(right);
}

std::optional<Spot> spot_of(const Frame& frame, const Labels& labels, std::size_t number, double size) {
  if (!is_round(labels.cells[number], size)) return std::nullopt;
  const auto around = surroundings(frame, labels, number);
  if (!around || around->rim.size() < 3) return std::nullopt;
  const Eigen::Vector2d middle = moments(around->within, [](Index, Index) { return 1.0; }).mean;
  const Eigen::Vector3d plane = plane_through(frame, around->rim, middle);
  const Moments m = moments(around->within, [&](Index row, Index bin) {
    return frame.at(row, bin) - plane[0] - plane[1] * (bin - middle.x()) - plane[2] * (row - middle.y());
  });
  constexpr double within_cell = 1.0 / 12;  // variance that the size of a cell adds
  const double variance = axes_of(m, size)[0] - within_cell;
  if (!(variance > 0) || !m.mean.allFinite()) return std::nullopt;
  return Spot{m.mean, variance};
}

}  // namespace

std::vector<Spot> ball_shadows(std::span<const float> values, Index rows, Index bins, double bin_size) {
  const Frame frame{values, rows, bins};
  const Labels labels = connected(frame, threshold_of(frame));
  std::vector<Spot> spots;
  for (std::size_t k = 0; k < labels.cells.size(); ++k)
    if (const auto spot = spot_of(frame, labels, k, bin_size)) spots.push_back(*spot);
  return spots;
}

}  // namespace tandem::calibration
