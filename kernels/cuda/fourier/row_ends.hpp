#pragma once

#include "../../../core/array.hpp"
#include "../common/batch.cuh"
#include "../common/beyond.cuh"

namespace tandem::kernels::cuda {

struct FourierSlices;

/// The low and the high end value of each row: (view, lane), zeros for lanes without a slice.
void find_ends(const Beyond& beyond, const FourierSlices& at, Image<const float> rows, float2* ends,
               Stream& stream);

/// The transpose of rows that go on: `circles` are as `rows` are, but have all positions of the transform.
void come_back(const Beyond& beyond, const FourierSlices& at, Image<float> circles, Update update,
               Image<float> rows, Stream& stream);

}  // namespace tandem::kernels::cuda
