// The table of variants. One line a variant: its name is that of a function in a file of its own, which
// returns the row.

#include "variants.hpp"

#include <array>

#define TANDEM_PARALLEL_CPU(VARIANT) VARIANT(standard)

#define TANDEM_PARALLEL_CUDA(VARIANT) \
  VARIANT(standard)                   \
  VARIANT(texture)                    \
  VARIANT(nearest)                    \
  VARIANT(alu)                        \
  VARIANT(hybrid)                     \
  VARIANT(tensor)

// CPU and CUDA have these alike.
#define TANDEM_FOURIER(VARIANT) VARIANT(fourier)

#define TANDEM_CONE(VARIANT)   \
  VARIANT(separable_footprint) \
  VARIANT(joseph)              \
  VARIANT(pixel_driven)

#define TANDEM_FLEXIBLE(VARIANT) VARIANT(separable_footprint)

#define TANDEM_HIERARCHICAL(VARIANT) VARIANT(hierarchical)

#define TANDEM_DECLARE(name) Row name();
#define TANDEM_MAKE(name) name(),
#define TANDEM_TABLE(place, Views, LIST)             \
  namespace place {                                  \
  using Row = Variant<Views>;                        \
  LIST(TANDEM_DECLARE)                               \
  static Table<Views> table() {                      \
    static const std::array rows{LIST(TANDEM_MAKE)}; \
    return rows;                                     \
  }                                                  \
  }

namespace tandem::kernels {

TANDEM_TABLE(cpu::parallel_variants, ParallelViews, TANDEM_PARALLEL_CPU)
TANDEM_TABLE(cpu::cone_variants, ConeViews, TANDEM_CONE)
TANDEM_TABLE(cpu::fourier_variants, FourierViews, TANDEM_FOURIER)
TANDEM_TABLE(cpu::flexible_variants, FlexibleViews, TANDEM_FLEXIBLE)
TANDEM_TABLE(cpu::hierarchical_variants, HierarchicalViews, TANDEM_HIERARCHICAL)
#if TANDEM_CUDA
TANDEM_TABLE(cuda::parallel_variants, ParallelViews, TANDEM_PARALLEL_CUDA)
TANDEM_TABLE(cuda::cone_variants, ConeViews, TANDEM_CONE)
TANDEM_TABLE(cuda::fourier_variants, FourierViews, TANDEM_FOURIER)
TANDEM_TABLE(cuda::flexible_variants, FlexibleViews, TANDEM_FLEXIBLE)
TANDEM_TABLE(cuda::hierarchical_variants, HierarchicalViews, TANDEM_HIERARCHICAL)
#endif

#define TANDEM_BACKEND(place)                                                 \
  Backend {                                                                   \
#place, place::parallel_variants::table(), place::cone_variants::table(), \
        place::fourier_variants::table(), place::flexible_variants::table(),  \
        place::hierarchical_variants::table()                                 \
  }

std::span<const Backend> backends() {
  static const std::array all {
    TANDEM_BACKEND(cpu),
#if TANDEM_CUDA
        TANDEM_BACKEND(cuda),
#endif
  };
  return all;
}

}  // namespace tandem::kernels
