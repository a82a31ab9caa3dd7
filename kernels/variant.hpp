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

/// The speed that no kernel of a kind can exceed on a chip.
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

/// Per second, in units of 10^9: linear fetches of a texel of up to 64 bits, and bytes read from shared
/// memory.
inline double fetches(Chip chip) { return 4 * chip.gigaclocks; }
inline double shared_bytes(Chip chip) { return 128 * chip.gigaclocks; }

/// One precision that a variant has.
struct Grade {
  Precision precision;
  bool matched;              ///< the transpose is exact: both directions have the same coefficients
  Bounds bounds;             ///< bounds of the pair
  Bounds filtered = bounds;  ///< for a cone beam's pair behind the filter of FDK
};

/// A way to execute a pair of projector and back-projector: a row of a table (variants.cpp). All that
/// programs know about a variant stands here. The volume is (slice, y, x), the projections are (view, row,
/// bin). out <- alpha A in + beta out, and if beta = 0, `out` is never read. `Views` is ParallelViews or
/// ConeViews.
template <class Views>
struct Variant {
  std::string_view name;
  std::vector<Grade> grades;  ///< a variant that takes over from another one runs with its first grade
  void (*forward)(const Views& views, const Execution& how, float alpha, Image<const float> volume,
                  float beta, Image<float> projections, Stream& stream);
  void (*backward)(const Views& views, const Execution& how, float alpha, Image<const float> projections,
                   float beta, Image<float> volume, Stream& stream);
  WorkingMemory (*working_memory)(Precision precision, Shape volume, Shape projections, Device device);
  /// Names of the kernels that it launches on this device (launches.hpp).
  std::vector<std::string> (*kernels)(Device device);
  /// For parallel beams, the coefficient of pixel (x, y) and a bin, in double.
  double (*coefficient)(const Views& views, Index view, Index x, Index y, Index bin) = nullptr;
  /// Whether it reads the nearest bin instead of interpolating between two.
  bool nearest = false;
  /// Says what hinders it for these views and projections (view, row, bin), or null if nothing does. No
  /// function: nothing ever hinders it.
  const char* (*misfit)(const Views& views, Precision precision, Shape projections, Device device) = nullptr;
  std::string_view instead =
      {};  ///< the variant that takes over in that case; if empty, there is a GeometryError
  /// The number of slices from which `automatic` takes it for these views, as measured. 0, or no function:
  /// never.
  Index (*fastest_from)(Precision precision, const Views& views) = nullptr;
  std::optional<Limit> (*limit)(Precision precision, Direction direction, Chip chip) = nullptr;
};

template <class Views>
using Table = std::span<const Variant<Views>>;

/// The row with this name, or null.
template <class Views>
const Variant<Views>* find(Table<Views> table, std::string_view name);

/// The grade of an execution; null if the table does not have this variant, or the variant does not have this
/// precision.
template <class Views>
const Grade* grade_of(Table<Views> table, const Execution& how);

/// All executions that a table has, variant by variant.
template <class Views>
std::vector<Execution> executions(Table<Views> table);

/// The execution that runs if `wanted` is asked for, for these views and projections (view, row, bin). It
/// does not depend on the memory. `automatic` takes the fastest variant, and only matched ones if `pairing`
/// says so and there are any. If a variant does not fit these views, it is replaced by the variant that it
/// names. @throws DeviceError for an execution that the table does not have; GeometryError for one that these
/// views forbid
template <class Views>
Execution resolve(Table<Views> table, const Execution& wanted, Pairing pairing, const Views& views,
                  Shape projections, Device device);

}  // namespace tandem::kernels
