#pragma once

#include <string>
#include <string_view>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How the shadow of a voxel on the detector is computed (docs/kernels.md). `fourier`, for parallel beams,
/// goes through frequencies instead of rays; `hierarchical`, for cone and fan beams, goes through groups of
/// views.
enum class Model { pixel_driven, joseph, separable_footprint, fourier, hierarchical };

/// How a sinogram is stored while it is back-projected. With `tensor`, also how a volume is stored while it
/// is projected. Sums are always float32.
enum class Precision { float32, float16, uint8 };

/// How the footprint kernels of a GPU share out their work; 0 means the best way. Results differ by rounding.
struct FootprintTuning {
  int rows_a_block = 0;     ///< projection: 64, 128 or 256; other warps take more views
  int voxels_a_thread = 0;  ///< back-projection, along a column: 1, 2 or 3
  bool operator==(const FootprintTuning&) const = default;
};

/// How projector and back-projector are executed. `variant` is the name of a row in the device's table of
/// variants (docs/kernels.md), or `automatic`, which is the fastest one that meets the precision and the
/// pairing.
struct Execution {
  std::string variant = "automatic";
  Precision precision = Precision::float32;
  FootprintTuning tuning{};
  double accuracy = 1e-4;  ///< relative error of the back-projection of Model::fourier
  bool operator==(const Execution&) const = default;
};

/// Which pairs `automatic` may take: only those whose back-projection is the transpose of the projection, as
/// solvers need it, or any.
enum class Pairing { matched, any };

/// The most memory that one application of a projector takes on its device beside the two vectors, bytes.
struct WorkingMemory {
  double forward, backward;
};

std::string_view name_of(Model model);
std::string_view name_of(Precision precision);
std::string name_of(const Execution& execution);  ///< for example "tensor float16"

/// The model with the name "joseph", ..., and the precision with the name "float16", ... @throws
/// GeometryError for another name; it lists the known ones.
Model model_named(std::string_view name);
Precision precision_named(std::string_view name);

}  // namespace tandem
