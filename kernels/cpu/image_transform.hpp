#pragma once

#include <complex>

#include "../../core/space.hpp"

namespace tandem::kernels::cpu {

/// Real images (image, row, column), and their spectra: (image, row frequency, column frequency), complex,
/// for the frequencies 0 to columns / 2. The other half is its conjugate mirror image. Images of one row are
/// lines.
struct Images {
  Index count, rows, columns;
  Index frequencies() const { return columns / 2 + 1; }
};

/// Transforms images one after the other, `lanes` lines at a time, on the calling thread.
void transform_images(const Images& images, const float* from, std::complex<float>* spectra);

/// Back again, with a factor of rows x columns. What was in `spectra` is lost.
void transform_back(const Images& images, std::complex<float>* spectra, float* to);

}  // namespace tandem::kernels::cpu
