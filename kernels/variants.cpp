// The table of variants. One line a variant: its name is that of a function in a file of its own, which
// returns the row.

#include "variants.hpp"

#include <array>

#define TANDEM_PARALLEL_CPU(VARIANT) VARIANT(standard)

#define TANDEM_FOURIER_CPU(VARIANT) VARIANT(fourier)

#define TANDEM_CONE_CPU(VARIANT) \
  VARIANT(separable_footprint)   \
  VARIANT(joseph)                \
  VARIANT(pixel_driven)

#define TANDEM_FLEXIBLE_CPU(VARIANT) VARIANT(separable_footprint)

#define TANDEM_HIERARCHICAL_CPU(VARIANT) VARIANT(hierarchical)

#define TANDEM_PARALLEL_CUDA(VARIANT) \
  VARIANT(standard)                   \
  VARIANT(texture)                    \
  VARIANT(nearest)                    \
  VARIANT(alu)                        \
  VARIANT(hybrid)                     \
  VARIANT(tensor)

#define TANDEM_FOURIER_CUDA(VARIANT) VARIANT(fourier)

#define TANDEM_CONE_CUDA(VARIANT) \
  VARIANT(separable_footprint)    \
  VARIANT(joseph)                 \
  VARIANT(pixel_driven)

#define TANDEM_FLEXIBLE_CUDA(VARIANT) VARIANT(separable_footprint)

#define TANDEM_HIERARCHICAL_CUDA(VARIANT) VARIANT(hierarchical)

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
TANDEM_TABLE(cpu::cone_variants, ConeViews, TANDEM_CONE_CPU)
TANDEM_TABLE(cpu::fourier_variants, FourierViews, TANDEM_FOURIER_CPU)
TANDEM_TABLE(cpu::flexible_variants, FlexibleViews, TANDEM_FLEXIBLE_CPU)
TANDEM_TABLE(cpu::hierarchical_variants, HierarchicalViews, TANDEM_HIERARCHICAL_CPU)
#if TANDEM_CUDA
TANDEM_TABLE(cuda::parallel_variants, ParallelViews, TANDEM_PARALLEL_CUDA)
TANDEM_TABLE(cuda::cone_variants, ConeViews, TANDEM_CONE_CUDA)
TANDEM_TABLE(cuda::fourier_variants, FourierViews, TANDEM_FOURIER_CUDA)
TANDEM_TABLE(cuda::flexible_variants, FlexibleViews, TANDEM_FLEXIBLE_CUDA)
TANDEM_TABLE(cuda::hierarchical_variants, HierarchicalViews, TANDEM_HIERARCHICAL_CUDA)
#endif

std::span<const Backend> backends() {
  static const std::array all {
    Backend{"cpu",
            cpu::parallel_variants::table(),
            cpu::cone_variants::table(),
            cpu::fourier_variants::table(),
            cpu::flexible_variants::table(),
            cpu::hierarchical_variants::table()},
#if TANDEM_CUDA
        Backend{"cuda",
                cuda::parallel_variants::table(),
                cuda::cone_variants::table(),
                cuda::fourier_variants::table(),
                cuda::flexible_variants::table(),
                cuda::hierarchical_variants::table()},
#endif
  };
  return all;
}

}  // namespace tandem::kernels
