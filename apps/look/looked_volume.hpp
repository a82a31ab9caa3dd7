#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "../../io/volumes/volume_file.hpp"
#include "../reports/volume_report.hpp"
#include "look_scan.hpp"

namespace tandem::apps {

/// A volume as a page looks at it, and perhaps another one beside it. It is read where it is seen. One thread
/// at a time.
class LookedVolume {
 public:
  using Json = nlohmann::json;
  using GoOn = std::function<void()>;

  /// `memory`: bytes to stay below. @throws FileError, also if the grid of `beside` does not fit to that of
  /// `volume`
  LookedVolume(std::string name, std::unique_ptr<io::VolumeReader> volume, double memory);
  void put_beside(std::string name, std::unique_ptr<io::VolumeReader> other);

  /// What the volumes say of themselves.
  Json report() const;
  /// {axis: "z", "y" or "x", at, region: [u0, u1, v0, v1], side, of: 0 or 1}: a plane of a volume, in which u
  /// goes to the right and v down. Voxels are those of the first volume; where the other one has none, the
  /// plane is NaN. If the region has more than `side` voxels along u or v, pixels are every so many-th voxel,
  /// or those of a smaller copy.
  Pictured plane(const Json& asked, const GoOn& go_on);
  /// {at: [z, y, x]}: the values there.
  Json value(const Json& asked);

 private:
  struct One {
    std::string name;
    std::unique_ptr<io::VolumeReader> reader;
    std::array<Index, 3> offset{};  ///< z, y, x: of voxel 0 of the first volume
  };
  struct Seen;
  struct Region;

  Seen seen(const Json& asked) const;
  std::size_t level_for(const Seen& seen) const;
  static Region region_of(const One& one, const Seen& seen, std::size_t level);
  static double bytes_for(const Seen& seen);
  void read(const One& one, const Seen& seen, io::Picture& picture, const GoOn& go_on);
  void require_memory(double bytes) const;

  std::vector<One> volumes_;
  double memory_;
};

}  // namespace tandem::apps
