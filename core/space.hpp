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

/// Which part of a vector is a problem of its own. The slices of a parallel-beam volume are independent: each
/// slice has its own inner products, step lengths and stop.
enum class Blocks {
  whole,
  slices,
  rows
};  ///< one block; one per slice (axis 0); one per detector row (axis 1)

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
  Index block_count() const;
  Blocks blocks() const { return blocks_; }
  int parts() const;  ///< 1 unless a direct sum
  Space part(int i) const;
  Index offset(int i) const;            ///< first element of part i
  bool operator==(const Space&) const;  ///< equal in everything, which is an equivalence
  /// Whether the spaces are equal, where a key of 0 in either of them fits every key. So a fits b if b fits
  /// a. But two spaces may fit a third one and have different keys.
  bool fits(const Space& other) const;

 private:
  bool alike(const Space& other, bool any_key) const;
  Shape shape_;
  Blocks blocks_;
  Device device_;
  std::uint64_t key_;
  std::shared_ptr<const std::vector<Space>> parts_;
};

}  // namespace tandem
