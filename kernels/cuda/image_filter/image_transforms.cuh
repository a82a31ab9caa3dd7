#pragma once

// Transforms of images by cuFFT, in place. Every transform has the same number of images, so that the bits do
// not depend on what is transformed together.

#include <algorithm>
#include <map>
#include <tuple>

#include "../../image_filter.hpp"
#include "../common/batch.cuh"
#include "../common/cufft.hpp"

namespace tandem::kernels::cuda {

/// Images where they lie.
struct Images {
  Index bins, line, size;
  float* work;
};

class ImageTransforms {
 public:
  ImageTransforms(Index rows, Index bins, const FilterBatch& batch, Stream& stream)
      : plans_(plans_for(rows, bins, batch, stream)),
        memory_(std::max<std::size_t>(plans_.work_bytes, 1), queue(stream)) {
    for (const cufftHandle handle : {plans_.forward, plans_.backward}) {
      check(cufft().set_stream(handle, queue(stream)));
      check(cufft().set_work_area(handle, memory_.data()));
    }
  }
  /// One batch of images; a spectrum has rows x (bins / 2 + 1) numbers.
  cufftComplex* forward(float* images) const {
    auto* spectra = reinterpret_cast<cufftComplex*>(images);
    check(cufft().exec_r2c(plans_.forward, images, spectra));
    return spectra;
  }
  /// Back again, with a factor of rows x bins.
  void backward(cufftComplex* spectra) const {
    check(cufft().exec_c2r(plans_.backward, spectra, reinterpret_cast<float*>(spectra)));
  }

 private:
  struct Plans {
    cufftHandle forward = 0, backward = 0;
    std::size_t work_bytes = 0;  ///< from the device's pool, for as long as the transforms take
  };

  /// Plans live as long as the program, one a thread, device and size.
  static Plans plans_for(Index rows, Index bins, const FilterBatch& batch, const Stream& stream) {
    thread_local std::map<std::tuple<Index, Index, Device>, Plans> made;
    const std::tuple key{rows, bins, stream.device()};
    if (const auto found = made.find(key); found != made.end()) return found->second;
    Plans plans;
    int n[] = {int_of(rows), int_of(bins)};
    int real[] = {n[0], int_of(batch.line)}, spectrum[] = {n[0], real[1] / 2};
    const int step = int_of(batch.size), count = int_of(batch.images);
    std::size_t forward = 0, backward = 0;
    for (cufftHandle* handle : {&plans.forward, &plans.backward}) {
      check(cufft().create(handle));
      check(cufft().set_auto_allocation(*handle, 0));
    }
    check(cufft().make_plan_many(plans.forward, 2, n, real, 1, step, spectrum, 1, step / 2, CUFFT_R2C, count,
                                 &forward));
    check(cufft().make_plan_many(plans.backward, 2, n, spectrum, 1, step / 2, real, 1, step, CUFFT_C2R, count,
                                 &backward));
    plans.work_bytes = std::max(forward, backward);
    made.emplace(key, plans);
    return plans;
  }

  Plans plans_;
  Scratch<std::byte> memory_;
};

}  // namespace tandem::kernels::cuda
