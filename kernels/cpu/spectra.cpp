#include "../spectra.hpp"

#include <algorithm>
#include <complex>
#include <map>
#include <utility>

#include "../../core/error.hpp"
#include "fftw.hpp"

namespace tandem::kernels {

namespace {

using Complex = std::complex<float>;

/// Aligned as FFTW wants it.
template <class T>
struct Room {
  explicit Room(std::size_t count) : data(static_cast<T*>(fftwf_malloc(count * sizeof(T)))) {
    if (!data) throw std::bad_alloc();
  }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  ~Room() { fftwf_free(data); }
  T* data;
};

struct Plans {
  cpu::FftwPlan forward, backward;
};

/// Plans live as long as the program.
const Plans& plans_for(Index rows, Index columns) {
  static std::map<std::pair<Index, Index>, Plans> made;
  const cpu::FftwPlanner planner;
  if (const auto found = made.find({rows, columns}); found != made.end()) return found->second;
  const Room<float> image(static_cast<std::size_t>(rows * columns));
  const Room<Complex> spectrum(static_cast<std::size_t>(rows * (columns / 2 + 1)));
  auto* there = reinterpret_cast<fftwf_complex*>(spectrum.data);
  const int n0 = static_cast<int>(rows), n1 = static_cast<int>(columns);
  Plans plans{cpu::FftwPlan(fftwf_plan_dft_r2c_2d(n0, n1, image.data, there, FFTW_ESTIMATE)),
              cpu::FftwPlan(fftwf_plan_dft_c2r_2d(n0, n1, there, image.data, FFTW_ESTIMATE))};
  require<DeviceError>(plans.forward && plans.backward, "Fourier transform: FFTW has no plan for ", rows,
                       " x ", columns, " numbers");
  return made.emplace(std::pair(rows, columns), std::move(plans)).first->second;
}

}  // namespace

void multiply_spectra(std::span<float> images, Index rows, Index columns, std::span<const double> gain) {
  const Plans& plans = plans_for(rows, columns);
  const auto size = static_cast<std::size_t>(rows * columns);
  const Room<float> image(size);
  const Room<Complex> spectrum(gain.size());
  auto* there = reinterpret_cast<fftwf_complex*>(spectrum.data);
  const double share = 1.0 / static_cast<double>(size);  // FFTW leaves it out
  for (std::size_t first = 0; first < images.size(); first += size) {
    std::copy_n(&images[first], size, image.data);
    fftwf_execute_dft_r2c(plans.forward.get(), image.data, there);
    for (std::size_t k = 0; k < gain.size(); ++k) spectrum.data[k] *= static_cast<float>(gain[k] * share);
    fftwf_execute_dft_c2r(plans.backward.get(), there, image.data);
    std::copy_n(image.data, size, &images[first]);
  }
}

void powers_of_lines(std::span<const float> lines, Index length, std::span<double> powers) {
  const Plans& plans = plans_for(1, length);
  const auto size = static_cast<std::size_t>(length), half = size / 2 + 1;
  const Room<float> line(size);
  const Room<Complex> spectrum(half);
  for (std::size_t k = 0; k < lines.size() / size; ++k) {
    std::copy_n(&lines[k * size], size, line.data);
    fftwf_execute_dft_r2c(plans.forward.get(), line.data, reinterpret_cast<fftwf_complex*>(spectrum.data));
    for (std::size_t f = 0; f < half; ++f)
      powers[k * half + f] = std::norm(std::complex<double>(spectrum.data[f]));
  }
}

}  // namespace tandem::kernels
