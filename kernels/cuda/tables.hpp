#pragma once

#include "../column_spreads.hpp"
#include "../columns.hpp"
#include "../counts.hpp"
#include "../differences.hpp"
#include "../fits.hpp"
#include "../frames.hpp"
#include "../image_filter.hpp"
#include "../level.hpp"
#include "../metal.hpp"
#include "../outliers.hpp"
#include "../products.hpp"
#include "../ramp.hpp"
#include "../slice_metric.hpp"
#include "../trial_slices.hpp"
#include "../vector.hpp"
#include "../voxels.hpp"
#include "../wavelets.hpp"
#include "../waves.hpp"

namespace tandem::kernels::cuda {

extern const ColumnKernels column_kernels;
extern const CountsKernels counts_kernels;
extern const DifferenceKernels difference_kernels;
extern const FitKernels fit_kernels;
extern const FrameKernels frame_kernels;
extern const ImageFilterKernels image_filter_kernels;
extern const LevelKernels level_kernels;
extern const MetalKernels metal_kernels;
extern const OutlierKernels outlier_kernels;
extern const SpreadKernels spread_kernels;
extern const ProductKernels product_kernels;
extern const RampKernels ramp_kernels;
extern const SliceMetricKernels slice_metric_kernels;
extern const TrialKernels trial_kernels;
extern const VectorKernels vector_kernels;
extern const VoxelKernels voxel_kernels;
extern const WaveKernels wave_kernels;
extern const WaveletKernels wavelet_kernels;

}  // namespace tandem::kernels::cuda
