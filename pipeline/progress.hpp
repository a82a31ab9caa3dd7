#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace tandem::pipeline {

/// How far the work is.
struct Stage {
  std::string name;
  double done = 0, total = 0;  ///< slices
  std::string detail = {};     ///< for a solver its iteration and residual
};
/// Is called often, from one thread at a time. It may throw to cancel the work.
using OnProgress = std::function<void(const Stage&)>;

/// Reports the progress of stations that work at the same time: of the one that the others wait for.
class Watch {
 public:
  Watch(OnProgress tell, double slices) : tell_(std::move(tell)), slices_(slices) {}

  /// What a station does now; an empty name means nothing.
  void reading(Stage now) { set(reading_, std::move(now)); }
  void computing(Stage now) { set(computing_, std::move(now)); }
  void writing(Stage now) { set(writing_, std::move(now)); }
  /// Reports the same again, so that the work can be cancelled.
  void again();

 private:
  void set(Stage& station, Stage now);
  void tell() const;  // with the mutex held

  OnProgress tell_;
  double slices_;
  std::mutex mutex_;
  Stage reading_, computing_, writing_{"start"};
};

}  // namespace tandem::pipeline
