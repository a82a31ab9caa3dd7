#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "../../calibration/found.hpp"
#include "../../io/scans/growing_scan.hpp"
#include "../../pipeline/slice_maker.hpp"
#include "../runs/progress.hpp"
#include "look_frames.hpp"
#include "look_options.hpp"
#include "look_picture.hpp"

namespace tandem::apps {

struct Listener;
class ProgressLine;

/// A scan as a page looks at it: opened as the options say, with what is kept of it. One thread at a time.
class LookScan {
 public:
  explicit LookScan(const LookOptions& options) : options_(options) {}

  using GoOn = std::function<void()>;
  /// The options of the start; the axis is among them if it was to be found.
  const nlohmann::json& start() const { return options_.start(); }
  /// A slice of the recipe, and what every second view adds; default: the middle one. `opposite`: how far
  /// opposite views differ; may be null
  pipeline::LookedAt looked_at(const nlohmann::json& options, std::optional<Index> z, const GoOn& go_on,
                               calibration::OppositeViews* opposite = nullptr);
  /// How many voxels the volume has along z, y and x.
  std::array<Index, 3> full_size(const nlohmann::json& options);
  /// {options, z, nearest: z beyond the volume is its last slice, region: [x0, x1, y0, y1], coarser, side};
  /// `lines`: the sinogram in the place of the slice.
  Pictured slice(const nlohmann::json& asked, bool lines, const GoOn& go_on);
  /// See `LookFrames`; with {options}.
  Pictured frame(const nlohmann::json& asked);
  /// {options}: the axis that the scan itself tells.
  nlohmann::json axis(const nlohmann::json& asked);
  /// Finds what the start of the options leaves to be found, and begins with it from now on.
  void find_for(LookOptions& options, const ReconOptions& start, ProgressLine& progress);
  /// {options}: the recipe of the volume, the command that makes it, and what there is to say about it.
  nlohmann::json recipe(const nlohmann::json& asked);
  /// Finds the geometry from the frames, as `tandem calibrate` does, or where each view was.
  /// @throws GeometryError for scans that `calibrate` refuses, UsageError for a scan that is followed
  calibration::Found calibrated(const nlohmann::json& options, bool each_view, Listener listener);
  /// See `LookOptions`.
  nlohmann::json options_of_frames(const nlohmann::json& options) const;
  nlohmann::json calibration_commands(const nlohmann::json& frames, bool each_view,
                                      const nlohmann::json& options) const;
  /// Looks how many views a followed scan has. {views, planned, unplanned: how many more there are; ring:
  /// [first, last); waited: seconds since the last view came; patience: after how many of them that is told;
  /// next: why the next view does not count}. Slices are made of the ring, which is the last half turn of
  /// views, or the last turn of a fan or cone beam. What is wrong is told on standard error, too, and once.
  /// @throws FileError if the scan shrinks, is gone or is another one
  nlohmann::json grown();
  /// What the scan says of itself, without options of the page.
  nlohmann::json report();
  /// Source, detector and volume as pictures of lines.
  std::string geometry_png(std::size_t number);

 private:
  /// A reader, and what was made of its scan.
  struct Opened {
    std::string how;
    std::unique_ptr<io::ScanReader> reader;
    std::unique_ptr<pipeline::SliceMaker> maker;
    std::unique_ptr<LookFrames> frames;
    io::GrowingScan* growing = nullptr;  ///< the reader, if the scan is followed
  };
  Opened opened_as(const std::string& how, const ReconOptions& parsed) const;
  Opened& opened(const nlohmann::json& options, const ReconOptions& parsed);
  /// The options of a page, parsed, and the scan that they open.
  struct Looked {
    std::unique_ptr<GivenRecon> parsed;
    ReconOptions& o;
    Opened& scan;
  };
  Looked looked(const nlohmann::json& options);
  Index views_seen(io::GrowingScan& scan, ProgressLine& says);
  void tell(const std::string& trouble, ProgressLine& says);

  const LookOptions& options_;
  using Clock = std::chrono::steady_clock;
  Range ring_{0, 0};             ///< see `grown`
  Clock::time_point last_view_;  ///< when the last view of a followed scan came
  std::string told_;             ///< what was wrong with a followed scan when it was told last
  std::list<Opened> opened_;     ///< the one that was used last comes first
};

}  // namespace tandem::apps
