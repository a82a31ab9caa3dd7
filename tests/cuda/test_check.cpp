// `tandem check` on a GPU. Skipped where none is.

#include "../apps/check_report.hpp"
#include "cuda_fixture.hpp"

namespace tandem::test {
namespace {

/// Whether the back-projection of a variant ran.
bool ran(const nlohmann::json& pair, const std::string& variant) {
  return std::any_of(pair["kernels"].begin(), pair["kernels"].end(), [&](const auto& kernel) {
    return kernel.template get<std::string>().starts_with(variant + " backward");
  });
}

TEST_F(Cuda, CheckReachesEveryKernelAndNamesWhatRan) {
  const nlohmann::json report = check_report(gpu);
  expect_every_kernel_reached(report, gpu);
  for (const auto& pair : report["pairs"]) {
    const std::string name = pair["name"], variant = pair["variant"];
    if (name != "parallel/joseph" && name != "parallel/pixel_driven") continue;
    for (const std::string one : {"standard", "texture", "alu", "hybrid"})
      EXPECT_EQ(ran(pair, one), variant == one) << pair;
    if (name == "parallel/joseph") {
      EXPECT_TRUE(variant == "alu" || variant == "tensor") << pair;
    }
  }
  // real cone beams run this
  EXPECT_TRUE(listed_kernels(gpu).contains("footprint products forward, 64"));
}

}  // namespace
}  // namespace tandem::test
