#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace tandem::pipeline {

/// Where the work is.
struct Stage {
  std::string name;
  double done = 0, total = 0;  ///< slices
  std::string detail = {};     ///< of a solver its iteration and residual
};
/// Called from one thread at a time, often; throw from it to cancel.
using OnProgress = std::function<void(const Stage&)>;

/// Tells how far stations are that work at the same time: of them, the one that others wait for.
class Watch {
 public:
  Watch(OnProgress tell, double slices) : tell_(std::move(tell)), slices_(slices) {}

  /// What a station is at; an empty name: nothing.
  void reading(Stage now) { set(reading_, std::move(now)); }
  void computing(Stage now) { set(computing_, std::move(now)); }
  void writing(Stage now) { set(writing_, std::move(now)); }
  /// Nothing new, but somebody may cancel.
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
