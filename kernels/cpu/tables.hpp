#pragma once

#include "../differences.hpp"
#include "../fourier.hpp"
#include "../hierarchical.hpp"
#include "../level.hpp"
#include "../metal.hpp"
#include "../ramp.hpp"
#include "../slice_metric.hpp"
#include "../trial_slices.hpp"
#include "../vector.hpp"

namespace tandem::kernels::cpu {

extern const DifferenceKernels difference_kernels;
extern const LevelKernels level_kernels;
extern const MetalKernels metal_kernels;
extern const SliceMetricKernels slice_metric_kernels;
extern const TrialKernels trial_kernels;
extern const VectorKernels vector_kernels;

void filter_rows(const RowFilter& filter, bool adjoint, float alpha, Image<const float> in, float beta,
                 Image<float> out, Stream& stream);
void add_circles(const Circles& how, float alpha, Image<const float> in, Image<float> out, Stream& stream);

double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device);

WorkingMemory hierarchical_memory(const HierarchicalViews& views);

}  // namespace tandem::kernels::cpu
