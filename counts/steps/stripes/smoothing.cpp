#include "columns.hpp"
#include "gpu/gpu_columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes {

namespace {

const Option<WholeNumber> sf_size =
    window("sf:size", "bins that a mean is compared with, an odd number (default 5)");

/// The change that brings the mean of each column to the mean of `size` columns around it. Beyond its ends a
/// row goes on as it ends.
std::vector<double> changes_of(std::span<const double> means, Index size) {
  const Index bins = means.size(), half = size / 2;
  std::vector<double> changes;
  for (Index b = 0; b < bins; ++b) {
    double sum = 0;
    for (Index k = b - half; k <= b + half; ++k) sum += means[nearest(k, bins)];
    changes.push_back(sum / (2 * half + 1) - means[b]);
  }
  return changes;
}

Index size_of(const Preprocessing& how) { return window_of(how, sf_size, 5); }

}  // namespace

Method smoothing_method() {
  return {.name = "sf",
          .help = "smooths the mean over the views: for faint, narrow stripes",
          .options = {sf_size},
          .begin = [](const Preprocessing& how) -> Work {
            return [size = size_of(how)](Plane& sinogram, Notes&) {
              const Range all{0, sinogram.rows};
              add_to_columns(sinogram, all, changes_of(means_of_columns(sinogram, all), size));
            };
          },
          .on_gpu =
              [](const Preprocessing& how) {
                return on_gpu(
                    [size = size_of(how)](std::span<const double> means) { return changes_of(means, size); });
              },
          .conflict = [](const StepValues& values) -> std::string {
            const Index size = sf_size.of(values).value_or(5);
            return size % 2 == 1 ? ""
                                 : words_of("sf:size=") + std::to_string(size) + ": an odd number is needed";
          }};
}

}  // namespace tandem::pipeline::stripes
