#pragma once

#include <string>
#include <string_view>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// How projector and back-projector are executed, never what they compute. `standard`: one slice a launch;
/// `texture`, `alu`, `hybrid`: Chilingaryan et al. 2018, sections III-B to III-E, of the back-projection,
/// with one projection for all; `tensor`: small dense products on tensor cores (docs/kernels.md).
/// `automatic`: the fastest that meets the precision and the pairing.
enum class Variant { automatic, standard, texture, alu, hybrid, tensor };

/// How a sinogram is stored while it is back-projected, and by `tensor` a volume while it is projected; sums
/// are float32 always.
enum class Precision { float32, float16, uint8 };

struct Execution {
  Variant variant = Variant::automatic;
  Precision precision = Precision::float32;
  bool operator==(const Execution&) const = default;
};

/// Which pairs `automatic` may take: those alone whose back-projection is the transpose of their projection,
/// as solvers need it, or any.
enum class Pairing { matched, any };

/// An execution that a device has. `matched`: both directions have the same coefficients; else those of one
/// are rounded by texture units, to 1/256 of a bin.
struct OfferedExecution {
  Execution how;
  bool matched;
};

/// Memory that one application of a projector takes on its device beside the two vectors, bytes, at the most.
struct WorkingMemory {
  double forward, backward;
};

std::string_view name_of(Variant variant);
std::string_view name_of(Precision precision);
std::string name_of(Execution execution);  ///< "tensor float16"

/// "texture", "float16", ...; @throws GeometryError for another name, listing them.
Variant variant_named(std::string_view name);
Precision precision_named(std::string_view name);

/// How the footprint kernels of a GPU share out their work; 0 is what is best. Results differ by rounding.
struct FootprintTuning {
  int rows_a_block = 0;     ///< projection: 64, 128 or 256; the warps left over take more views
  int voxels_a_thread = 0;  ///< back-projection, along a column: 1, 2 or 3
};

}  // namespace tandem
