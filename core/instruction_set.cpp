#include "instruction_set.hpp"

#include <hwy/targets.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

#include "error.hpp"
#include "names.hpp"

namespace tandem {

namespace {

/// What people call Highway's targets, floats of a vector, and whether a product and a sum are fused.
struct Name {
  std::int64_t target;
  const char* words;
  int floats;
  bool fuses;
};
constexpr Name names[] = {{HWY_AVX3, "AVX-512", 16, true},  {HWY_AVX2, "AVX2", 8, true},
                          {HWY_SSE4, "SSE4", 4, false},     {HWY_NEON, "NEON", 4, true},
                          {HWY_EMU128, "scalar", 1, false}, {HWY_SCALAR, "scalar", 1, false}};

/// A target of a later Highway keeps its name: more than AVX-512, or less than SSE4.
Name named(std::int64_t target) {
  for (const Name& name : names)
    if (name.target == target) return name;
  return {target, hwy::TargetName(target), target < HWY_AVX2 ? 16 : 4, target < HWY_AVX2};
}

std::string name_of(std::int64_t target) { return named(target).words; }

/// @throws DeviceError for any other name
std::int64_t target_of(const std::string& name) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    if (name_of(target) == name) return target;
  throw DeviceError("TANDEM_SIMD: '" + name +
                    "' is no set of instructions that this processor and this build have; " + "one of " +
                    joined(instruction_sets(), ", ") + " is needed");
}

/// All of Highway's choices read what is put here.
std::int64_t use(std::int64_t target) {
  hwy::GetChosenTarget().Update(target);
  return target;
}

/// The target in use; its first call chooses it.
std::atomic<std::int64_t>& chosen() {
  static std::atomic<std::int64_t> target = [] {
    const char* wanted = std::getenv("TANDEM_SIMD");
    return use(wanted && *wanted ? target_of(wanted) : hwy::SupportedAndGeneratedTargets().front());
  }();
  return target;
}

}  // namespace

std::vector<std::string> instruction_sets() {
  std::vector<std::string> all;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) all.push_back(name_of(target));
  return all;
}

std::string instruction_set() { return name_of(chosen()); }

int floats_a_vector() { return named(chosen()).floats; }

bool instructions_fuse() { return named(chosen()).fuses; }

void choose_instruction_set() { chosen(); }

void use_instruction_set(const std::string& name) { chosen() = use(target_of(name)); }

}  // namespace tandem
