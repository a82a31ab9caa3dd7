#pragma once

#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

namespace tandem::apps {

/// What has a state that several threads use, and of whose changes somebody is told.
class ToldOf {
 public:
  nlohmann::json state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }

 protected:
  /// `news`: is called when the state has changed.
  explicit ToldOf(std::function<void()> news) : news_(std::move(news)) {}
  ~ToldOf() = default;

  /// Changes what the mutex guards, and tells of it.
  template <class How>
  void change(const How& how) {
    {
      const std::lock_guard lock(mutex_);
      how();
    }
    news_();
  }

  mutable std::mutex mutex_;  ///< guards the members that change
  std::function<void()> news_;
  nlohmann::json state_ = {{"state", "none"}};
};

}  // namespace tandem::apps
