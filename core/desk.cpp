#include "desk.hpp"

#include <algorithm>
#include <utility>

namespace tandem {

bool helper_takes(std::span<const double> left, double own, double theirs, std::vector<double> busy) {
  const double mine = own * left.front();
  for (const double size : left) {
    double& first = *std::min_element(busy.begin(), busy.end());
    first += theirs * size;
    if (first >= mine) return true;
  }
  return false;
}

Desk::Desk(Index workers, std::vector<double> sizes) : sizes_(std::move(sizes)), workers_(workers) {}

std::optional<Item> Desk::next(double now) {
  if (waiting_.empty()) return {};
  const auto is_free = [&](std::size_t worker) {
    return !workers_[worker].at_work && (!is_helper(worker) || helper_takes_next(now));
  };
  std::size_t taker = 0;
  while (taker < workers_.size() && !is_free(taker)) ++taker;
  if (taker == workers_.size()) return {};
  Item item = waiting_.front();
  waiting_.pop_front();
  item.worker = taker;
  const double size = sizes_.empty() ? 1 : sizes_[item.number];
  workers_[taker] = {true, now, size};
  return item;
}

void Desk::end(const Item& item, double now) {
  const std::size_t number = item.worker;
  Worker& worker = workers_[number];
  worker.at_work = false;
  const double seconds = now - worker.since;
  if (is_helper(number)) {
    helped_size_ += worker.size, helped_seconds_ += seconds;
  } else {
    fastest_ = std::min(fastest_.value_or(seconds / worker.size), seconds / worker.size);
    if (item.number >= others()) ++ended_, followed_ += waiting_.empty() ? 0 : 1;
  }
}

bool Desk::others_are_short() const { return ended_ > 0 && followed_ >= nearly_all * ended_; }

bool Desk::helper_takes_next(double now) const {
  const bool is_due = waiting_.front().number >= first_for_helper(others());
  if (!is_due || !others_are_short()) return false;
  const double theirs = *fastest_,
               own = helped_size_ > 0 ? spare * helped_seconds_ / helped_size_ : believed * theirs;
  std::vector<double> busy(workers_.size() - 1);
  for (std::size_t i = 0; i < busy.size(); ++i)
    if (workers_[i].at_work) busy[i] = std::max(0.0, workers_[i].since + theirs * workers_[i].size - now);
  const std::size_t first = waiting_.front().number;
  return helper_takes(std::span(sizes_).subspan(first), own, theirs, std::move(busy));
}

}  // namespace tandem
