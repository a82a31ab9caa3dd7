#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "device.hpp"
#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

using Index = std::int64_t;          ///< for every count and offset: volumes exceed 2^31 voxels
using Shape = std::array<Index, 3>;  ///< slowest axis first: (slice, y, x) or (view, row, bin)

/// A half-open range: first, ..., last - 1.
struct Range {
  Index first = 0, last = 0;
  constexpr Index size() const { return last - first; }
  bool operator==(const Range&) const = default;
};

/// Which part of a vector is a problem of its own. The slices of a parallel-beam volume are independent: each
/// slice has its own inner products, step lengths and stop.
enum class Blocks {
  whole,
  slices,
  rows
};  ///< one block; one per slice (axis 0); one per detector row (axis 1)

/// How a vector lies on a team of devices: each member holds all of it, or its share of the planes of axis 0.
enum class Spread { copied, split };

/// The vector space that an operator maps from or to: a 3-D shape on a device, or a direct sum of spaces.
/// `key` is a fingerprint of the geometry behind the shape, so that projections of one scan are not taken for
/// those of another. Operators whose spaces fit can be added and composed; vectors whose spaces fit can be
/// added and have inner products.
class Space {
 public:
  explicit Space(Shape shape, Blocks blocks = Blocks::whole, Device device = Device::cpu(),
                 std::uint64_t key = 0);
  /// X0 + X1 + ..., stored one after another. @throws SpaceError unless all lie on one device and have
  /// equally many blocks.
  static Space direct_sum(std::vector<Space> parts);

  Shape shape() const;  ///< @throws SpaceError for a direct sum
  Index size() const;
  Device device() const;
  Space on(Device device) const;  ///< the same space on another device
  Space split() const;            ///< the same space, whose vectors are split if they lie on a team
  Spread spread() const { return spread_; }
  int shares() const { return device_.members(); }  ///< 1 unless on a team
  Space share(int k) const;                         ///< what member k of the team holds
  /// The first plane of axis 0 of share k, if vectors are split; for k = shares() the number of planes.
  /// @throws SpaceError if there are fewer planes than members, or if planes are blocks; `share` then throws,
  /// too
  Index first_plane(int k) const;
  /// The part that one of several ranks (core/comm.hpp) holds of a vector that all of them have together:
  /// some of the planes of axis 0 or 1, perhaps none. Sums over its elements are sums over the elements of
  /// all ranks, so all ranks ask for them in the same order. @throws SpaceError for a direct sum, a portion,
  /// several blocks, or if there are no such planes
  Space portion(int axis, Index begin, Index end) const;
  bool is_portion() const { return of_ranks_.planes > 0; }
  Space whole() const;  ///< the space of which this one is a portion; else this space
  Index first_of_portion() const { return of_ranks_.begin; }  ///< plane of the whole
  Index line_in_whole(Index line) const;  ///< the place of a line of the last axis, if all ranks' are counted
  Index block_count() const;
  Blocks blocks() const { return blocks_; }
  std::uint64_t key() const { return key_; }  ///< 0 of a direct sum, whose parts have their own
  int parts() const;                          ///< 1 unless a direct sum
  Space part(int i) const;
  Index offset(int i) const;  ///< first element of part i
  /// Equal in everything, which is an equivalence. `spread` counts on a team alone.
  bool operator==(const Space&) const;
  /// Whether the spaces are equal, where a key of 0 in either of them fits every key. So a fits b if b fits
  /// a. But two spaces may fit a third one and have different keys.
  bool fits(const Space& other) const;

 private:
  /// How ranks cut a vector, and where a portion begins. Without planes it is no portion.
  struct OfRanks {
    int axis = 0;
    Index begin = 0, planes = 0;
    bool operator==(const OfRanks&) const = default;
  };
  bool alike(const Space& other, bool any_key) const;
  Shape shape_;
  Blocks blocks_;
  Device device_;
  std::uint64_t key_;
  Spread spread_ = Spread::copied;
  OfRanks of_ranks_;
  std::shared_ptr<const std::vector<Space>> parts_;
};

}  // namespace tandem
