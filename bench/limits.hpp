#pragma once

#include <optional>

#include "tandem/core/execution.hpp"

namespace tandem::bench {

struct Limit {
  const char* what;  ///< the part of the chip that is busy all the time
  double gups;
};

enum class Direction { back, forward };

/// What no kernel of this kind can pass on a GPU of so many `gigaclocks` (core/device.hpp): what the parts of
/// a multiprocessor do in a clock, over what an update takes of them. Nothing on the CPU, whose gigaclocks
/// are 0, nor of a projection on the cores. Formulas and figures: docs/performance.md.
inline std::optional<Limit> limit_of(Execution how, Direction direction, double gigaclocks) {
  const bool back = direction == Direction::back;
  if (gigaclocks == 0 || (!back && how.variant != Variant::tensor)) return std::nullopt;
  const bool single = how.precision == Precision::float32;
  const double fetches = 4 * gigaclocks;         // linear ones, of a texel of up to 64 bits
  const double shared_bytes = 128 * gigaclocks;  // read
  const double products = 2048 * gigaclocks;     // multiply-adds of float16, dense, compute capability 9.0
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
    case Variant::tensor: {  // windows of 8 bins, or of 16 in Hopper's own products; float32 takes three
      const double window = back && single ? 8 : 16;
      return Limit{"tensor cores", products / window / (single ? 3 : 1)};
    }
  }
  return std::nullopt;
}

}  // namespace tandem::bench
