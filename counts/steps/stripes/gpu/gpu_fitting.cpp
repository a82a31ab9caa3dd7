#include <numeric>

#include "../../../../kernels/columns.hpp"
#include "../../../../kernels/fits.hpp"
#include "../../../../kernels/image_filter.hpp"
#include "../fitting.hpp"
#include "../window.hpp"
#include "gpu_sinograms.hpp"

namespace tandem::pipeline::stripes {

namespace {

using kernels::ImageFilter;

/// For sinograms of one period of all columns.
ImageFilter fit_filter(Index views, Index bins, Index order) {
  ImageFilter filter{2 * (views - 1), bins};
  const std::vector<double> gain = fit_gain(views, order);
  for (Index k = 0; k < filter.rows; ++k)
    filter.response.insert(filter.response.end(), bins / 2 + 1,
                           static_cast<float>(gain[std::min(k, filter.rows - k)]));
  return filter;
}

/// For sinograms with margins.
ImageFilter even_filter(Index views, Index bins, const Fitting& how) {
  const Index margin = fit_margin(views);
  ImageFilter filter{views + 2 * margin, bins + 2 * margin};
  const std::vector<double> gain = gaussian_gain(filter.rows, filter.bins, how.sigma_rows, how.sigma_columns);
  filter.response.assign(gain.begin(), gain.end());
  return filter;
}

/// Sinograms of the size of the filter.
void filter_all(const ImageFilter& filter, const Image<float>& sinograms, Stream& stream) {
  kernels::image_filters(stream.device())
      ->filter_frames(filter, {0, filter.rows, 1, 0, 0}, {0, filter.rows}, sinograms, stream);
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

class GpuFit {
 public:
  GpuFit(const Fitting& how, Index views, Index bins, Stream& stream)
      : fit_(fit_filter(views, bins, how.order)),
        even_(even_filter(views, bins, how)),
        margin_(fit_margin(views)),
        stream_(stream),
        kernels_(*kernels::fits(stream.device())) {}

  /// Sinograms (row, view, bin).
  void divide(const Image<float>& y) const {
    Array longer = sinograms(y.n0, fit_.rows, fit_.bins), wide = sinograms(y.n0, even_.rows, even_.bins),
          even = sinograms(y.n0, y.n1, y.n2);
    const Image<float> periods = image(VectorView(longer)), margins = image(VectorView(wide)),
                       evened = image(VectorView(even));
    kernels_.mirror(read_only(y), periods, stream_);
    filter_all(fit_, periods, stream_);
    const Image<const float> fitted{periods.data, y.n0, y.n1, y.n2, periods.s0, periods.s1};
    const std::vector<double> means = column_means(fitted);
    kernels_.widen(fitted, std::vector<float>(means.begin(), means.end()), margin_, margins, stream_);
    filter_all(even_, margins, stream_);
    kernels_.narrow(read_only(margins), margin_, evened, stream_);
    kernels_.divide(fitted, read_only(evened), scales(means, column_means(read_only(evened)), y.n0), y,
                    stream_);
  }

 private:
  Array sinograms(Index rows, Index views, Index bins) const {
    return Array(Space({rows, views, bins}, Blocks::whole, stream_.device()), stream_);
  }

  /// (row, bin)
  std::vector<double> column_means(const Image<const float>& of) const {
    return kernels::columns(stream_.device())->means({of.data, of.n1, of.n0, of.n2, of.s1, of.s0}, stream_);
  }

  /// The factors that let sinograms keep their means.
  static std::vector<double> scales(std::span<const double> fitted, std::span<const double> even,
                                    Index rows) {
    const std::size_t bins = fitted.size() / rows;
    std::vector<double> all;
    for (std::size_t first = 0; first < fitted.size(); first += bins)
      all.push_back(mean_of(fitted.subspan(first, bins)) / mean_of(even.subspan(first, bins)));
    return all;
  }

  ImageFilter fit_, even_;
  Index margin_;
  Stream& stream_;
  const kernels::FitKernels& kernels_;
};

double bytes_of_fit(Index views, Index bins) {
  const Index margin = fit_margin(views);
  return double{sizeof(float)} * (3 * views * bins + (views + 2 * margin) * (bins + 2 * margin));
}

}  // namespace

GpuWork fit_on_gpu(const Fitting& how) {
  return [how](GpuData& data) -> std::optional<Index> {
    const Image<float>& y = data.y;
    if (y.n0 < 3) return 0;
    const GpuFit fit(how, y.n0, y.n2, data.stream);
    for_rows_together(y.n1, rows_together(y.n1, bytes_of_fit(y.n0, y.n2)),
                      [&](Range rows) { fit.divide(sinograms_of(y, rows)); });
    return 0;
  };
}

double gpu_bytes_of_fit(Shape shape) {
  const auto [views, rows, bins] = shape;
  if (views < 3) return 0;
  const double a_row = bytes_of_fit(views, bins);
  const Index margin = fit_margin(views);
  // as for raven: lengths that are no products of small primes take more
  const double transforms =
      4 * std::max(kernels::FilterBatch(2 * (views - 1), bins, 1).bytes(),
                   kernels::FilterBatch(views + 2 * margin, bins + 2 * margin, 1).bytes());
  return a_row * rows_together(rows, a_row) + transforms;
}

}  // namespace tandem::pipeline::stripes
