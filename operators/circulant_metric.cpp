#include "circulant_metric.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "../core/error.hpp"
#include "../core/parallel.hpp"
#include "../kernels/image_filter.hpp"
#include "../kernels/slice_metric.hpp"
#include "distributed/rank_slices.hpp"
#include "vector.hpp"

namespace tandem {

namespace {

using kernels::SliceFactors;
using kernels::SliceMetric;

/// The frequency of a coefficient, cycles a pixel.
double frequency(Index k, Index length) {
  return static_cast<double>(std::min(k, length - k)) / static_cast<double>(length);
}

/// The spectrum of the next value less this one; `frequency` has a sign.
std::complex<double> difference(double frequency) {
  return std::polar(1.0, 2 * std::numbers::pi * frequency) - 1.0;
}

struct InverseMetric {
  Space volume;
  std::shared_ptr<const SliceMetric> spectra;
  std::vector<SliceFactors> factors;  ///< one per block

  Space domain() const { return volume; }
  Space range() const { return volume; }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    if (beta == 0) return map_into(alpha, x, y, stream);
    Array mapped(volume, stream);
    map_into(alpha, x, mapped, stream);
    axpby(1, mapped, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    apply(alpha, y, beta, x, stream);
  }

 private:
  void map_into(float alpha, ConstVectorView x, VectorView y, Stream& stream) const {
    axpby(alpha, x, 0, y, stream);
    if (volume.is_portion())
      on_whole_slices(y, stream, [&](Image<float> slices) { map(slices, stream); });
    else
      on_threads(volume.shares(), [&](Index k) {
        map(image(y.share(static_cast<int>(k))), stream.member(static_cast<int>(k)));
      });
  }
  void map(Image<float> slices, Stream& stream) const {
    std::vector<SliceFactors> each = factors;
    if (each.size() == 1) each.assign(slices.n0, factors.front());
    kernels::slice_metrics(stream.device()).apply(*spectra, each, slices, stream);
  }
};

}  // namespace

CirculantMetric::CirculantMetric(const Space& volume, bool of_projector, std::array<float, 3> differences,
                                 float shear, double otherwise, double more)
    : volume_(volume) {
  require<SpaceError>(volume.parts() == 1 && volume.blocks() != Blocks::rows,
                      "CirculantMetric: the space is a direct sum, or holds projections; a volume is needed");
  const auto [nz, ny, nx] = volume.whole().shape();
  SliceMetric spectra{kernels::fast_length(ny), kernels::fast_length(nx)};
  const auto [dz, dy, dx] = differences;
  const bool three = volume.blocks() == Blocks::whole && nz > 1;
  const double between = three ? 2.0 * dz * dz : 0;
  const bool differs = dy != 0 || dx != 0 || between != 0;
  const double pixels = static_cast<double>(spectra.rows * spectra.bins), least = 1 / std::sqrt(pixels);
  double sum = 0;
  for (Index k = 0; k < spectra.rows; ++k)
    for (Index l = 0; l <= spectra.bins / 2; ++l) {
      const double fy = frequency(k, spectra.rows), fx = frequency(l, spectra.bins);
      const double u = of_projector ? 1 / std::max(std::hypot(fy, fx), least) : 1;
      sum += l > 0 && 2 * l != spectra.bins ? 2 * u : u;
      spectra.u.push_back(static_cast<float>(u + more));
      spectra.v.push_back(
          static_cast<float>(differs ? std::norm(double{dy} * difference(k * 2 > spectra.rows ? -fy : fy) +
                                                 double{shear} * difference(fx)) +
                                           std::norm(double{dx} * difference(fx)) + between
                                     : otherwise));
    }
  trace_ =
      sum / pixels * static_cast<double>(volume.whole().size()) / static_cast<double>(volume.block_count());
  spectra_ = std::make_shared<const SliceMetric>(std::move(spectra));
}

LinearOperator CirculantMetric::inverse(const std::vector<float>& a, const std::vector<float>& b) const {
  std::vector<SliceFactors> factors;
  for (std::size_t k = 0; k < a.size(); ++k) factors.push_back({a[k], b[k]});
  return InverseMetric{volume_, spectra_, std::move(factors)};
}

}  // namespace tandem
