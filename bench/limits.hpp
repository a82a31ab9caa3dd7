#pragma once

#include <optional>

#include "../core/device.hpp"
#include "../core/execution.hpp"

namespace tandem::bench {

struct Limit {
  const char* what;  ///< the part of the chip that is busy all the time
  double gups;
};

enum class Direction { back, forward };

/// A GPU, as core/device.hpp has it.
struct Chip {
  double gigaclocks;  ///< 0: none
  ComputeCapability compute_capability;
};

/// What no kernel of this kind can pass on a GPU: what the parts of a multiprocessor do in a clock, over what
/// an update takes of them. Nothing on the CPU, nor of a projection on the cores, nor of tensor cores other
/// than Hopper's. Formulas and figures: docs/performance.md.
inline std::optional<Limit> limit_of(Execution how, Direction direction, Chip chip) {
  const bool back = direction == Direction::back;
  if (chip.gigaclocks == 0 || (!back && how.variant != Variant::tensor)) return std::nullopt;
  const bool single = how.precision == Precision::float32;
  const double fetches = 4 * chip.gigaclocks;         // linear ones, of a texel of up to 64 bits
  const double shared_bytes = 128 * chip.gigaclocks;  // read
  const double products = 2048 * chip.gigaclocks;     // multiply-adds of float16, dense, on Hopper
  switch (how.variant) {
    case Variant::automatic:
      return std::nullopt;
    case Variant::standard:
      return Limit{"texture unit", fetches};
    case Variant::texture:  // slices a texel
      return Limit{"texture unit", (single ? 2 : 4) * fetches};
    case Variant::alu:  // two bins of 4 bytes
      return Limit{"shared memory", shared_bytes / 8};
    case Variant::hybrid:  // both at once
      return Limit{"texture unit and shared memory", 2 * fetches + shared_bytes / 8};
    case Variant::tensor: {
      if (chip.compute_capability.major != 9) return std::nullopt;
      // windows of 8 bins, or of 16 in Hopper's own products; float32 takes three
      const double window = back && single ? 8 : 16;
      return Limit{"tensor cores", products / window / (single ? 3 : 1)};
    }
  }
  return std::nullopt;
}

}  // namespace tandem::bench
