#pragma once

#include <string>
#include <string_view>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How a sinogram is stored while it is back-projected, and by `tensor` a volume while it is projected; sums
/// are float32 always.
enum class Precision { float32, float16, uint8 };

/// How the footprint kernels of a GPU share out their work; 0 is what is best. Results differ by rounding.
struct FootprintTuning {
  int rows_a_block = 0;     ///< projection: 64, 128 or 256; the warps left over take more views
  int voxels_a_thread = 0;  ///< back-projection, along a column: 1, 2 or 3
  bool operator==(const FootprintTuning&) const = default;
};

/// How projector and back-projector are executed. `variant` is the name of a row in the device's table of
/// variants (docs/kernels.md), or `automatic`: the fastest that meets the precision and the pairing.
struct Execution {
  std::string variant = "automatic";
  Precision precision = Precision::float32;
  FootprintTuning tuning{};
  bool operator==(const Execution&) const = default;
};

/// Which pairs `automatic` may take: those alone whose back-projection is the transpose of their projection,
/// as solvers need it, or any.
enum class Pairing { matched, any };

/// Memory that one application of a projector takes on its device beside the two vectors, bytes, at the most.
struct WorkingMemory {
  double forward, backward;
};

std::string_view name_of(Precision precision);
std::string name_of(const Execution& execution);  ///< "tensor float16"

/// "float16", ...; @throws GeometryError for another name, listing them.
Precision precision_named(std::string_view name);

}  // namespace tandem
