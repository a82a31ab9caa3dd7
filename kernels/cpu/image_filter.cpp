#include "../image_filter.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../../core/array.hpp"
#include "../../core/error.hpp"
#include "fftw.hpp"

namespace tandem::kernels {

namespace {

using cpu::FftwPlan;
using cpu::FftwPlanner;

struct Plans {
  FftwPlan forward, backward;
};

Space real_space(Index rows, Index bins) { return Space({1, rows, bins}); }
Space spectrum_space(Index rows, Index bins) { return Space({1, rows, 2 * (bins / 2 + 1)}); }

fftwf_complex* complex(Array& spectrum) { return reinterpret_cast<fftwf_complex*>(spectrum.data()); }

/// From one array to another, aligned as arrays are. Plans live as long as the program.
const Plans& plans_for(Index rows, Index bins) {
  static std::map<std::pair<Index, Index>, Plans> made;
  const FftwPlanner planner;
  const auto found = made.find({rows, bins});
  if (found != made.end()) return found->second;
  Array image(real_space(rows, bins)), spectrum(spectrum_space(rows, bins));
  const int m = static_cast<int>(rows), n = static_cast<int>(bins);
  Plans plans{FftwPlan(fftwf_plan_dft_r2c_2d(m, n, image.data(), complex(spectrum), FFTW_ESTIMATE)),
              FftwPlan(fftwf_plan_dft_c2r_2d(m, n, complex(spectrum), image.data(), FFTW_ESTIMATE))};
  require<DeviceError>(plans.forward && plans.backward, "image filter: FFTW has no plan for ", rows, " x ",
                       bins, " pixels");
  return made.emplace(std::pair{rows, bins}, std::move(plans)).first->second;
}

}  // namespace

Index fast_length(Index count) {
  for (Index n = std::max<Index>(count, 1);; ++n) {
    Index rest = n;
    for (const Index prime : {2, 3, 5, 7})
      while (rest % prime == 0) rest /= prime;
    if (rest == 1) return n;
  }
}

void filter_image(const ImageFilter& filter, float* image) {
  const Plans& plans = plans_for(filter.rows, filter.bins);
  Array aligned(real_space(filter.rows, filter.bins)), spectrum(spectrum_space(filter.rows, filter.bins));
  const Index pixels = filter.rows * filter.bins;
  std::copy_n(image, pixels, aligned.data());
  fftwf_execute_dft_r2c(plans.forward.get(), aligned.data(), complex(spectrum));
  const float scale = 1.0f / static_cast<float>(pixels);
  float* parts = spectrum.data();
  for (std::size_t k = 0; k < filter.response.size(); ++k) {
    const float size = filter.response[k] * scale;
    parts[2 * k] *= size;
    parts[2 * k + 1] *= size;
  }
  fftwf_execute_dft_c2r(plans.backward.get(), complex(spectrum), aligned.data());
  std::copy_n(aligned.data(), pixels, image);
}

}  // namespace tandem::kernels
