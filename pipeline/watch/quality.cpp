#include "quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"

namespace tandem::pipeline {

namespace {

constexpr Index window = 7;

struct Errors {
  double square = 0, disc = 0, disc_pixels = 0;
};

Errors line_errors(const float* image, const float* truth, Index y, Index ny, Index nx) {
  const double radius = 0.5 * std::min(nx, ny);
  const double dy = y - 0.5 * (ny - 1);
  Errors e;
  for (Index x = 0; x < nx; ++x) {
    const double d = double{image[x]} - truth[x];
    const double dx = x - 0.5 * (nx - 1);
    e.square += d * d;
    if (dx * dx + dy * dy > radius * radius) continue;
    e.disc += d * d;
    ++e.disc_pixels;
  }
  return e;
}

/// Sums over a window: of both images, their squares and their product.
using Moments = std::array<double, 5>;

double similarity(const Moments& sums, double range) {
  constexpr double n = window * window;
  const double c1 = 0.01 * 0.01 * range * range, c2 = 0.03 * 0.03 * range * range;
  const double a = sums[0] / n, b = sums[1] / n;
  const auto covariance = [](double product, double mean_product) {
    return (product - n * mean_product) / (n - 1);
  };
  const double aa = covariance(sums[2], a * a), bb = covariance(sums[3], b * b),
               ab = covariance(sums[4], a * b);
  return (2 * a * b + c1) * (2 * ab + c2) / ((a * a + b * b + c1) * (aa + bb + c2));
}

/// The sum of the similarities of all windows whose first line is this one.
double line_similarity(const float* image, const float* truth, Index nx, double range) {
  std::vector<Moments> columns(nx, Moments{});
  for (Index y = 0; y < window; ++y)
    for (Index x = 0; x < nx; ++x) {
      const double a = image[y * nx + x], b = truth[y * nx + x];
      Moments& m = columns[x];
      m[0] += a, m[1] += b, m[2] += a * a, m[3] += b * b, m[4] += a * b;
    }
  double sum = 0;
  for (std::size_t x = 0; x + window <= columns.size(); ++x) {
    Moments total{};
    for (std::size_t i = 0; i < window; ++i)
      for (std::size_t k = 0; k < total.size(); ++k) total[k] += columns[x + i][k];
    sum += similarity(total, range);
  }
  return sum;
}

double psnr(double rmse, double range) { return 20 * std::log10(range / rmse); }

void require_range(double range) {
  require<GeometryError>(range > 0, "quality: a range of ", range, "; PSNR and SSIM need a positive one");
}

}  // namespace

void require_comparable(Shape shape) {
  const auto [nz, ny, nx] = shape;
  require<GeometryError>(nz > 0 && ny >= window && nx >= window, "quality: slices of ", ny, " x ", nx,
                         " pixels; SSIM needs at least ", window, " x ", window);
}

Quality compare(std::span<const float> image, std::span<const float> truth, Shape shape, double range) {
  const auto [nz, ny, nx] = shape;
  require<SpaceError>(image.size() == truth.size() && std::ssize(image) == nz * ny * nx,
                      "quality: an image of ", image.size(), " and a truth of ", truth.size(),
                      " voxels; both must be ", nz, " x ", ny, " x ", nx);
  require_comparable(shape);
  require_range(range);
  // Each line has its own partial sum, and these are added in order, so that the result does not depend on
  // the number of threads.
  std::vector<Errors> errors(nz * ny);
  std::vector<double> similarities(errors.size());
  parallel_for(nz * ny, [&, rows = ny, columns = nx](Index i) {
    const float *a = image.data() + i * columns, *b = truth.data() + i * columns;
    const Index y = i % rows;
    errors[i] = line_errors(a, b, y, rows, columns);
    if (y + window <= rows) similarities[i] = line_similarity(a, b, columns, range);
  });
  Errors sum;
  for (const Errors& e : errors) sum.square += e.square, sum.disc += e.disc, sum.disc_pixels += e.disc_pixels;
  const double rmse = std::sqrt(sum.square / (nz * ny * nx));
  const double windows = nz * (ny - window + 1) * (nx - window + 1);
  return {rmse, std::sqrt(sum.disc / sum.disc_pixels), psnr(rmse, range),
          std::accumulate(similarities.begin(), similarities.end(), 0.0) / windows};
}

Quality combined(std::span<const Quality> parts, double range) {
  require<SpaceError>(!parts.empty(), "quality: no parts to combine; at least 1 is needed");
  require_range(range);
  double square = 0, disc = 0, ssim = 0;
  for (const Quality& q : parts) square += q.rmse * q.rmse, disc += q.rmse_disc * q.rmse_disc, ssim += q.ssim;
  const double n = parts.size(), rmse = std::sqrt(square / n);
  return {rmse, std::sqrt(disc / n), psnr(rmse, range), ssim / n};
}

}  // namespace tandem::pipeline
