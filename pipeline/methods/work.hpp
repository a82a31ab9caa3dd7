#pragma once

#include <optional>

#include "../../counts/gpu_counts.hpp"
#include "../watch/options.hpp"
#include "../watch/outcome.hpp"
#include "method.hpp"

namespace tandem::pipeline {

class StateKeeper;
class Truth;

/// What is watched and kept while a method runs.
struct Beside {
  bool curves = false;                 ///< whether to keep curves for the report
  Truth* truth = nullptr;              ///< for curves of quality; may be null
  StateKeeper* keeper = nullptr;       ///< may be null
  OnPictures show = {};                ///< sees iterates of the first worker; may be empty
  const Onlooker* onlooker = nullptr;  ///< may be null
  Following following = {};            ///< a scan that is being written
};

/// The inputs of a method on one worker, and the outcome in which it notes what it did.
struct Work {
  const Plan& plan;
  Watch& watch;
  std::size_t worker = 0;     ///< its number among the plan's workers
  bool any_external = false;  ///< see io::VolumeReader, for an initial volume
  double start = 0;           ///< when the whole run began, by `seconds_now`
  Beside beside = {};
  Outcome outcome = {};  ///< what this worker did

  Device device() const { return plan.flow.workers[worker].device; }
  /// Reports what is done with the slices at hand.
  void tell(std::string what, double slices, std::string detail = {}) {
    watch.computing(worker, std::move(what), slices, std::move(detail));
  }

  Array moved_to(Device device, Array array);
  /// Copies frames to each GPU of the device, which share them as `views` does, on the stream of each.
  std::vector<GpuFrames> moved_to_gpus(const io::FramesView& frames, const Space& views);
  void move_to(GpuFrames& there, const io::FramesView& frames,
               Stream& stream);  ///< copies some frames to their place; waits
  void copy_to(std::byte* host, ConstVectorView from, Index bytes);  ///< copies the first bytes; waits
  void count_updates(const Problem& problem, double applications);
};

/// Voxels times views of a problem.
double updates_of(const Problem& problem);

/// The operators F and B for one chunk after another. They are made anew only if a chunk differs from the one
/// before.
class FilteredBackProjection {
 public:
  FilteredBackProjection(Work& work, const Filter& how) : work_(work), how_(how) {}
  Array filtered(const Problem& problem, Array y);
  /// B applied to filtered data; it reports progress on the way.
  Array back_projected(const Problem& problem, const Array& filtered, Range slices);

 private:
  void renew(const Problem& problem);  ///< forgets the operators unless they serve this problem too

  Work& work_;
  Filter how_;
  std::optional<Problem> made_for_;
  std::optional<LinearOperator> filter_;
  BackProjection back_projection_;
};

}  // namespace tandem::pipeline
