#include "progress.hpp"

#include <sstream>

namespace tandem::pipeline {

std::string words_of_residual(double relative) {
  std::ostringstream words;
  words.precision(3);
  words << "residual " << relative << (relative <= 1 ? " of the first" : " times the first");
  return words.str();
}

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

/// Between two chunks no worker has work. The writer is not what the others wait for then.
void Watch::tell() {
  if (!tell_) return;
  if (instead_) return tell_(*instead_);
  Stage computing;
  double done = computed_ + (others_ ? others_() : 0);
  for (const Stage& worker : workers_) {
    done += worker.done;
    if (computing.name.empty()) computing = worker;
  }
  if (!computing.name.empty()) told_ = computing;
  const bool between = !told_.name.empty() && done < slices_;
  Stage now = !computing.name.empty()  ? computing
              : !reading_.name.empty() ? reading_
              : between                ? told_
                                       : writing_;
  if (between || !computing.name.empty()) now.done = done;
  now.total = slices_;
  tell_(now);
}

}  // namespace tandem::pipeline
