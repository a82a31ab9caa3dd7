#pragma once

#include <array>
#include <memory>
#include <vector>

#include "../../io/volumes/volume_file.hpp"
#include "../plan/plan.hpp"
#include "../watch/live.hpp"
#include "../watch/outcome.hpp"
#include "../watch/progress.hpp"
#include "../watch/truth.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Compares slices with the truth as they pass. Without a truth it does nothing.
class QualityWatch {
 public:
  QualityWatch(const VolumeGrid& grid, std::shared_ptr<Truth> truth);
  bool looks() const { return truth_ != nullptr; }
  void look_at(Index z, const float* slice);
  void finish(Outcome& outcome) const;

 private:
  std::shared_ptr<Truth> truth_;
  std::vector<Quality> qualities_;
};

/// Keeps the three planes through the middle of the volume, normal to z, y and x, as slices pass, and shows
/// them meanwhile.
class MiddleSlices {
 public:
  /// If `wanted`, the planes are kept for the outcome. If not, they are kept only if `show` is there.
  MiddleSlices(const VolumeGrid& grid, bool wanted, OnPictures show);
  bool looks() const { return !pictures_.empty(); }
  void look_at(Index z, const float* slice);
  /// Shows the newest slice and the planes, if that is due.
  void show(Index newest, const float* slice);
  /// Shows the planes for the last time.
  void finish(Outcome& outcome);

 private:
  std::vector<LivePicture> planes() const;

  bool wanted_;
  LiveView live_;
  std::array<Index, 3> size_;  ///< x, y, z
  std::vector<io::Picture> pictures_;
};

/// Writes volumes, and passes each slice to the objects that look at the result.
class WriteStation {
 public:
  WriteStation(io::VolumeWriter& writer, const Plan& plan, Watch& watch, Outcome& outcome,
               QualityWatch quality, MiddleSlices middle);
  /// Finds the range of integers in the first chunk, which must be the whole volume, or a rank's slab of it.
  void find_range() { finds_range_ = true; }
  void operator()(Chunk& chunk);
  /// Looks at the slices that did not pass because a killed run had written them. It reads them from the
  /// file.
  void look_at_rest();
  void finish();
  /// Whether some object looks at voxels, so that these have to come as floats.
  bool looks() const { return quality_.looks() || middle_.looks(); }

 private:
  void look_at(const Chunk& chunk);
  void set_range_of(const Chunk& chunk);

  io::VolumeWriter& writer_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  Index written_ = 0;         ///< slices
  std::vector<bool> passed_;  ///< whether a slice was written by this station
  bool finds_range_ = false;
  QualityWatch quality_;
  MiddleSlices middle_;
};

}  // namespace tandem::pipeline
