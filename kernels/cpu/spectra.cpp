#include "../spectra.hpp"

#include <algorithm>
#include <complex>
#include <vector>

#include "fourier_transform.hpp"
#include "image_transform.hpp"

namespace tandem::kernels {

namespace {

/// Calls body(first image, images) for so many that no lane is idle.
template <class Body>
void for_images(std::size_t numbers, Index rows, Index columns, const Body& body) {
  const Index count = numbers / (rows * columns), together = rows == 1 ? cpu::lanes : 1;
  for (Index first = 0; first < count; first += together)
    body(first, cpu::Images{std::min(together, count - first), rows, columns});
}

std::vector<std::complex<float>> room_for(const cpu::Images& images) {
  return std::vector<std::complex<float>>(images.count * images.rows * images.frequencies());
}

}  // namespace

void multiply_spectra(std::span<float> images, Index rows, Index columns, std::span<const double> gain) {
  const double share = 1.0 / (rows * columns);  // transforms leave this out
  for_images(images.size(), rows, columns, [&](Index first, const cpu::Images& some) {
    float* at = &images[first * rows * columns];
    auto spectra = room_for(some);
    cpu::transform_images(some, at, spectra.data());
    for (std::size_t k = 0; k < spectra.size(); ++k)
      spectra[k] *= static_cast<float>(gain[k % gain.size()] * share);
    cpu::transform_back(some, spectra.data(), at);
  });
}

void powers_of_lines(std::span<const float> lines, Index length, std::span<double> powers) {
  for_images(lines.size(), 1, length, [&](Index first, const cpu::Images& some) {
    auto spectra = room_for(some);
    cpu::transform_images(some, &lines[first * length], spectra.data());
    double* to = &powers[first * some.frequencies()];
    for (std::size_t k = 0; k < spectra.size(); ++k) to[k] = std::norm(std::complex<double>(spectra[k]));
  });
}

}  // namespace tandem::kernels
