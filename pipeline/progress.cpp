#include "progress.hpp"

namespace tandem::pipeline {

void Watch::again() {
  const std::lock_guard lock(mutex_);
  tell();
}

void Watch::set(Stage& station, Stage now) {
  const std::lock_guard lock(mutex_);
  station = std::move(now);
  tell();
}

void Watch::tell() const {
  Stage now = !computing_.name.empty() ? computing_ : !reading_.name.empty() ? reading_ : writing_;
  now.total = slices_;
  if (tell_) tell_(now);
}

}  // namespace tandem::pipeline
