#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/array.hpp"
#include "../core/device.hpp"
#include "../core/execution.hpp"
#include "bounds.hpp"

namespace tandem::kernels {

/// What no kernel of a kind can pass on a chip.
struct Limit {
  const char* what;  ///< the part of the chip that is busy all the time
  double gups;
};

enum class Direction { forward, backward };

/// A GPU, as core/device.hpp has it.
struct Chip {
  double gigaclocks;
  ComputeCapability compute_capability;
};

/// A second, in units of 10^9: linear fetches of a texel of up to 64 bits; bytes read from shared memory.
inline double fetches(Chip chip) { return 4 * chip.gigaclocks; }
inline double shared_bytes(Chip chip) { return 128 * chip.gigaclocks; }

/// One precision that a variant has.
struct Grade {
  Precision precision;
  bool matched;              ///< the transpose is exact: both directions have the same coefficients
  Bounds bounds;             ///< of the pair
  Bounds filtered = bounds;  ///< of a cone beam's pair behind FDK's filter
};

/// A way to execute a pair of projector and back-projector: a row of a table (variants.cpp). All that
/// programs know of one is in here. Volume (slice, y, x), projections (view, row, bin);
/// out <- alpha A in + beta out, and beta = 0 never reads out. `Views` is ParallelViews or ConeViews.
template <class Views>
struct Variant {
  std::string_view name;
  std::vector<Grade> grades;  ///< the first one is that of a variant which takes over from another one
  void (*forward)(const Views& views, const Execution& how, float alpha, Image<const float> volume,
                  float beta, Image<float> projections, Stream& stream);
  void (*backward)(const Views& views, const Execution& how, float alpha, Image<const float> projections,
                   float beta, Image<float> volume, Stream& stream);
  WorkingMemory (*working_memory)(Precision precision, Shape volume, Shape projections, Device device);
  /// Names of the kernels that it launches on this device (launches.hpp).
  std::vector<std::string> (*kernels)(Device device);
  /// The coefficient of pixel (x, y) and a bin, in double; of parallel beams.
  double (*coefficient)(const Views& views, Index view, Index x, Index y, Index bin) = nullptr;
  /// What hinders it on these views and projections (view, row, bin), or nothing; null: nothing ever does.
  const char* (*misfit)(const Views& views, Precision precision, Shape projections, Device device) = nullptr;
  std::string_view instead = {};  ///< the variant that takes over there; none: a GeometryError
  /// Slices from which `automatic` takes it for these views, as measured; 0, or null: never.
  Index (*fastest_from)(Precision precision, const Views& views) = nullptr;
  std::optional<Limit> (*limit)(Precision precision, Direction direction, Chip chip) = nullptr;
};

template <class Views>
using Table = std::span<const Variant<Views>>;

/// The row of that name, or null.
template <class Views>
const Variant<Views>* find(Table<Views> table, std::string_view name);

/// Null if the table has no such variant, or it has not this precision.
template <class Views>
const Grade* grade_of(Table<Views> table, const Execution& how);

/// All that a table has, a variant after the other.
template <class Views>
std::vector<Execution> executions(Table<Views> table);

/// What runs if `wanted` is asked for, for these views and projections (view, row, bin), whatever the memory.
/// `automatic` takes the fastest, of matched ones if there are any and `pairing` says so; a variant that
/// these views do not fit leaves its place to another one, if it names one.
/// @throws DeviceError for what the table has not, GeometryError for what these views forbid.
template <class Views>
Execution resolve(Table<Views> table, const Execution& wanted, Pairing pairing, const Views& views,
                  Shape projections, Device device);

}  // namespace tandem::kernels
