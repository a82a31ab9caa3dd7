#pragma once

#include <string>
#include <vector>

namespace tandem {

/// The sets of SIMD instructions that kernels are compiled for and this processor has, the widest first:
/// "AVX-512", "AVX2", "SSE4", "scalar".
std::vector<std::string> instruction_sets();

/// The set that kernels on the CPU run with: the one that the environment variable TANDEM_SIMD names, else
/// the widest. @throws DeviceError if TANDEM_SIMD names none of `instruction_sets()`
std::string instruction_set();

/// Floats of a vector of this set: 16, 8, 4, or 1 of scalar code.
int floats_a_vector();

/// Whether a product and the sum with it are rounded once, as by AVX-512, AVX2 and NEON. All sets that do so
/// give the same bits, and all others give other bits, the same ones.
bool instructions_fuse();

/// Makes the choice, if it is not made yet. @throws DeviceError as above
void choose_instruction_set();

/// Makes kernels run with this set from now on. For tests; not while kernels run. @throws DeviceError as
/// above
void use_instruction_set(const std::string& name);

}  // namespace tandem
