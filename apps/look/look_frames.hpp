#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "../../pipeline/slice_maker.hpp"
#include "look_picture.hpp"

namespace tandem::apps {

/// How often values come, from the lowest to the highest, with mean and spread; null if none is finite.
nlohmann::json histogram_of(std::span<const float> values);

/// Frames of a scan as a page looks at them, and what many of them tell of cells, which is kept. One thread
/// at a time.
class LookFrames {
 public:
  explicit LookFrames(io::ScanReader& reader) : reader_(reader) {}

  /// {kind: "projection", "flat" or "dark": a frame of the file as it is; "mean" or "spread": of each cell
  /// over up to 64 views, evenly taken; index, side}. Beside it stand cells at the end of the range in this
  /// frame, and dead ones: their flats, on average over five, are not above their darks. Places are (bin,
  /// row) pairs, 2000 at most. @throws UsageError
  Pictured frame(const nlohmann::json& asked);

 private:
  struct OverViews {
    std::vector<float> mean, spread;
    Index taken = 0;
  };
  std::vector<float> read(io::FrameKind kind, Index index) const;
  std::vector<double> mean_of(io::FrameKind kind, Index count) const;
  const OverViews& over_views();
  const std::vector<std::size_t>& dead();

  io::ScanReader& reader_;
  std::optional<OverViews> over_views_;
  std::optional<std::vector<std::size_t>> dead_;  ///< cells
};

}  // namespace tandem::apps
