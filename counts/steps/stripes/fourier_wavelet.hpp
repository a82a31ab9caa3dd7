#pragma once

#include "slow.hpp"
#include "wavelets.hpp"

namespace tandem::pipeline::stripes {

/// B. Münch, P. Trtik, F. Marone, M. Stampanoni, Optics Express 17, 8567 (2009), as tomopy has it.
struct FourierWavelet {
  Index levels;
  const Wavelet* wavelet;
  double sigma;  ///< in steps of one period over all views of a band
  bool pad;      ///< whether views of zeros lie before and behind the others

  Index zeros(Index views) const { return pad ? views / 8 : 0; }
};

/// The waves that hardly change over n views, and are taken out of a band.
kernels::Waves steady_waves(Index n, double sigma);

/// @throws GeometryError if a sinogram is too small for so many levels
void require_levels(const FourierWavelet& how, Index views, Index bins);

/// The same on a GPU, for sinograms (row, view, bin), and what it holds for one of them, bytes.
void remove_on_gpu(const Image<float>& sinograms, const FourierWavelet& how, Stream& stream);
double gpu_bytes_a_row(const FourierWavelet& how, Index views, Index bins);

}  // namespace tandem::pipeline::stripes
