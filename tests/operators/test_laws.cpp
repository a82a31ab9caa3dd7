// The laws of operators on the CPU. tests/cuda/test_laws.cpp has them on a GPU.

#include "../support/backends.hpp"

namespace tandem::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Cpu, Laws, ::testing::ValuesIn(backends(Device::cpu())), name_of_row);

}  // namespace
}  // namespace tandem::test
