#pragma once

#include <span>

#include "../core/space.hpp"

namespace tandem::kernels {

/// y <- F^-1 (gain F y) for each of some real images that follow each other, on the CPU and by the calling
/// thread. `gain` has rows x (columns / 2 + 1) real numbers, for the frequencies 0 to columns / 2 along a row
/// and all of a column, negative ones last. So the filter is its own mirror image. Images of one row are
/// lines. Errors are those of Fourier transforms in float.
/// @pre as many gains as that; images.size() is a multiple of rows x columns
void multiply_spectra(std::span<float> images, Index rows, Index columns, std::span<const double> gain);

/// |F y|^2 of each of some real lines that follow each other, for the frequencies 0 to length / 2, by the
/// calling thread. @pre `powers` has length / 2 + 1 numbers for each line
void powers_of_lines(std::span<const float> lines, Index length, std::span<double> powers);

}  // namespace tandem::kernels
