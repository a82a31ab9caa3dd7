#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "../../counts/gpu_counts.hpp"
#include "../watch/live.hpp"
#include "../watch/outcome.hpp"
#include "../watch/progress.hpp"
#include "method.hpp"

namespace tandem::pipeline {

class StateKeeper;
class Truth;

/// What is done beside the volume while a solver runs.
struct Beside {
  bool curves = false;            ///< whether to keep them for the report
  Truth* truth = nullptr;         ///< for curves of quality; may be null
  StateKeeper* keeper = nullptr;  ///< may be null
  OnPictures show = {};           ///< sees iterates of the first worker; may be empty
};

/// What a method works with on one worker, and where it writes down what it did.
struct Work {
  const Plan& plan;
  Watch& watch;
  std::size_t worker = 0;     ///< its place among the plan's
  bool any_external = false;  ///< see io::VolumeReader, for an initial volume
  double start = 0;           ///< when the whole run began, by `seconds_now`
  Beside beside = {};
  Outcome outcome = {};  ///< of this worker

  Device device() const { return plan.flow.workers[worker].device; }
  /// Reports what is done with the slices at hand.
  void tell(std::string what, double slices, std::string detail = {}) {
    watch.computing(worker, std::move(what), slices, std::move(detail));
  }

  Array moved_to(Device device, Array array);
  /// Frames to each GPU of the device, which shares them as `views` does; they are made for its stream.
  std::vector<GpuFrames> moved_to_gpus(const io::FramesView& frames, const Space& views);
  void move_to(GpuFrames& there, const io::FramesView& frames,
               Stream& stream);                                      ///< some of them, to their place; waits
  void copy_to(std::byte* host, ConstVectorView from, Index bytes);  ///< the first bytes; waits
  void count_updates(const Problem& problem, double applications);
};

/// Voxels times views.
double updates_of(const Problem& problem);

/// F and B for one chunk after another, made once for chunks that are alike.
class FilteredBackProjection {
 public:
  explicit FilteredBackProjection(Work& work) : work_(work) {}
  Array filtered(const Problem& problem, Array y);
  /// B applied to filtered data; it reports progress on the way.
  Array back_projected(const Problem& problem, const Array& filtered, Range slices);

 private:
  void renew(const Problem& problem);  ///< forgets them unless they serve this problem too

  Work& work_;
  std::optional<Problem> made_for_;
  std::optional<LinearOperator> filter_;
  BackProjection back_projection_;
};

}  // namespace tandem::pipeline
