#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace tandem {

/// The newest results of a function that takes long, by what it was called with. Any thread may ask.
template <class Key, class Result>
class NewestResults {
 public:
  explicit NewestResults(std::size_t most) : most_(most) {}

  /// The result for a key. The first time `make()` returns it; meanwhile no lock is held, so that it may wait
  /// for other threads.
  template <class Make>
  std::shared_ptr<const Result> result(const Key& key, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (auto kept = find(key)) return kept;
    }
    auto made = std::make_shared<const Result>(make());
    const std::lock_guard lock(mutex_);
    if (auto kept = find(key)) return kept;  // made by another thread meanwhile
    all_.emplace_front(key, made);
    if (all_.size() > most_) all_.pop_back();
    return made;
  }

 private:
  std::shared_ptr<const Result> find(const Key& key) {
    const auto found = std::ranges::find(all_, key, &Entry::first);
    if (found == all_.end()) return nullptr;
    all_.splice(all_.begin(), all_, found);
    return found->second;
  }

  using Entry = std::pair<Key, std::shared_ptr<const Result>>;
  std::size_t most_;
  std::mutex mutex_;
  std::list<Entry> all_;
};

}  // namespace tandem
