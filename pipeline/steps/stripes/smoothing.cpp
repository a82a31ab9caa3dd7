#include "columns.hpp"
#include "stripe_method.hpp"

namespace tandem::pipeline::stripes::method {

namespace {

/// Takes away what sets the mean of a column apart from the mean of `size` columns around it; beyond the ends
/// a row goes on as it ends.
void smooth(Plane& sinogram, Index size) {
  const std::vector<double> means = means_of_columns(sinogram, {0, sinogram.rows});
  const Index bins = sinogram.columns, half = size / 2;
  std::vector<double> excess;
  for (Index b = 0; b < bins; ++b) {
    double sum = 0;
    for (Index k = b - half; k <= b + half; ++k) sum += means[static_cast<std::size_t>(nearest(k, bins))];
    excess.push_back(means[static_cast<std::size_t>(b)] - sum / static_cast<double>(2 * half + 1));
  }
  for (Index view = 0; view < sinogram.rows; ++view)
    for (Index b = 0; b < bins; ++b)
      sinogram(view, b) = static_cast<float>(sinogram(view, b) - excess[static_cast<std::size_t>(b)]);
}

}  // namespace

Method smoothing() {
  return {
      .name = "sf",
      .help = "smooths the mean over the views: for faint, narrow stripes",
      .options = {window("--sf-size", "sf: bins that a mean is compared with, an odd number (default 5)")},
      .begin = [](const Preprocessing& how) -> Work {
        return [size = window_of(how, "--sf-size", 5)](Plane& sinogram, Notes&) { smooth(sinogram, size); };
      },
      .conflict = [](const StepValues& values) -> std::string {
        const Index size = value_of<Index>(values, "--sf-size").value_or(5);
        return size % 2 == 1 ? "" : "--sf-size " + std::to_string(size) + " is even; give an odd number";
      }};
}

}  // namespace tandem::pipeline::stripes::method
