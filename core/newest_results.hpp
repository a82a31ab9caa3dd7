#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace tandem {

/// The newest results of a function that takes long, by what it was called with. Any thread may ask.
template <class Key, class Result>
class NewestResults {
 public:
  using BytesOf = std::function<double(const Result&)>;
  /// `most`: how many are kept. `bytes_of`: measures a result, for a budget.
  explicit NewestResults(
      std::size_t most, BytesOf bytes_of = [](const Result&) { return 0.0; })
      : most_(most), bytes_of_(std::move(bytes_of)) {}

  /// The result for a key. The first time `make()` returns it; threads that ask for the same meanwhile wait
  /// for it, and others do not. Older results are forgotten until all take at most `budget` bytes, or this
  /// one is left alone.
  template <class Make>
  std::shared_ptr<const Result> result(const Key& key, const Make& make,
                                       double budget = std::numeric_limits<double>::infinity()) {
    const std::shared_ptr<Entry> entry = entry_of(key);
    const std::lock_guard making(entry->making);
    if (entry->made) return entry->made;
    try {
      auto made = std::make_shared<const Result>(make());
      const std::lock_guard lock(mutex_);
      entry->made = std::move(made);
      forget_older(budget);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      all_.remove(entry);
      throw;
    }
    return entry->made;
  }

 private:
  struct Entry {
    explicit Entry(const Key& k) : key(k) {}
    const Key key;
    std::mutex making;
    std::shared_ptr<const Result> made{};  ///< is set under both locks
  };

  /// The entry of a key, which becomes the first one.
  std::shared_ptr<Entry> entry_of(const Key& key) {
    const std::lock_guard lock(mutex_);
    auto found = all_.begin();
    while (found != all_.end() && (*found)->key != key) ++found;
    if (found == all_.end()) found = all_.insert(found, std::make_shared<Entry>(key));
    all_.splice(all_.begin(), all_, found);
    return *found;
  }

  void forget_older(double budget) {
    std::size_t count = 0;
    double bytes = 0;
    all_.remove_if([&](const std::shared_ptr<Entry>& one) {
      if (!one->made) return false;  // a thread makes it now
      bytes += bytes_of_(*one->made);
      return ++count > 1 && (count > most_ || bytes > budget);
    });
  }

  std::size_t most_;
  BytesOf bytes_of_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> all_;  ///< the newest first
};

}  // namespace tandem
