// The effect of the precision of each execution on a picture. Skipped where no GPU is.

#include "../support/known_scan.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

double bound_of(const Execution& how) {
  const bool half = how.precision == Precision::float16;
  if (how.precision == Precision::uint8) return tolerance::fbp_by_byte_texture;
  if (how.variant == "tensor") return half ? tolerance::fbp_by_half_products : tolerance::fbp_by_float;
  if (how.variant == "alu") return tolerance::fbp_by_float;
  return half ? tolerance::fbp_by_half_texture : tolerance::fbp_by_texture;
}

TEST_F(Cuda, FilteredBackProjectionsKeepTheirPrecision) {
  const KnownScan known(512, 768);
  const Array y = known.line_integrals(), truth = known.reconstruct(y, Window::ramp),
              there = on_device(y, gpu);
  for (const Execution& how : executions_of_hats(gpu)) {
    const Array image = on_device(known.reconstruct(there, Window::ramp, 1, how), cpu);
    EXPECT_LE(quality(image, truth).rmse, bound_of(how)) << name_of(how);
  }
}

}  // namespace
}  // namespace tandem::test
