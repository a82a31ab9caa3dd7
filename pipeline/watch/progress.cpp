#include "progress.hpp"

namespace tandem::pipeline {

void Watch::reading(std::string name, double done) {
  const std::lock_guard lock(mutex_);
  reading_ = {std::move(name), done};
  tell();
}

void Watch::writing(std::string name, double done) {
  const std::lock_guard lock(mutex_);
  writing_ = {std::move(name), done};
  instead_.reset();
  tell();
}

void Watch::computing(std::size_t worker, std::string name, double done_of_chunk, std::string detail) {
  const std::lock_guard lock(mutex_);
  workers_[worker] = {std::move(name), done_of_chunk, 0, std::move(detail)};
  tell();
}

void Watch::computed(std::size_t worker, double slices) {
  const std::lock_guard lock(mutex_);
  workers_[worker] = {};
  computed_ += slices;
  tell();
}

void Watch::instead(Stage stage) {
  const std::lock_guard lock(mutex_);
  instead_ = std::move(stage);
  tell();
}

void Watch::again() {
  const std::lock_guard lock(mutex_);
  tell();
}

void Watch::tell() const {
  if (!tell_) return;
  if (instead_) return tell_(*instead_);
  Stage computing;
  double done = computed_ + (others_ ? others_() : 0);
  for (const Stage& worker : workers_) {
    done += worker.done;
    if (computing.name.empty()) computing = worker;
  }
  computing.done = done;
  Stage now = !computing.name.empty() ? computing : !reading_.name.empty() ? reading_ : writing_;
  now.total = slices_;
  tell_(now);
}

}  // namespace tandem::pipeline
