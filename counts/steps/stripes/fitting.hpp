#pragma once

#include "../step.hpp"

namespace tandem::pipeline::stripes {

/// Columns are divided by polynomials over the views, and multiplied by the same after a Gaussian filter.
struct Fitting {
  Index order;
  double sigma_columns, sigma_rows;  ///< frequencies
};

/// The factors of the frequencies of columns, which are mirrored and then 2 (views - 1) long. They make the
/// polynomial through nearly all views around each view. @pre views > 2
std::vector<double> fit_gain(Index views, Index order);

/// The margin around fitted sinograms while they are filtered.
Index fit_margin(Index views);

/// The work on a GPU, and the bytes that it holds there.
GpuWork fit_on_gpu(const Fitting& how);
double gpu_bytes_of_fit(Shape shape);

}  // namespace tandem::pipeline::stripes
