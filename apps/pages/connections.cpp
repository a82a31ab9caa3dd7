#include "connections.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace tandem::apps {

using namespace std::chrono_literals;

/// Ends the first connection in this state, if there is one; its thread closes it.
bool Connections::end_first(int state) {
  const auto found = std::ranges::find_if(all_, [&](const One& one) { return one.state == state; });
  if (found == all_.end()) return false;
  ::shutdown(found->socket, SHUT_RDWR);
  found->state = One::ended;
  return true;
}

bool Connections::admit() {
  std::unique_lock lock(mutex_);
  const auto has_room = [&] {
    if (admitted_ < most) return true;
    const bool ends = std::ranges::any_of(all_, [](const One& one) { return one.state == One::ended; });
    if (!ends && !end_first(One::silent)) end_first(One::answered);
    return false;
  };
  if (!change_.wait_for(lock, 100ms, has_room)) return false;
  ++admitted_;
  return true;
}

Connections::One& Connections::begin(int socket) {
  const std::lock_guard lock(mutex_);
  One& one = all_.emplace_back(One{socket});
  if (over_) end_first(One::silent);
  change_.notify_all();
  return one;
}

void Connections::ask(One& one) {
  const std::lock_guard lock(mutex_);
  if (one.state == One::silent) one.state = One::asked;
}

void Connections::finish(One& one) {
  {
    const std::lock_guard lock(mutex_);
    if (one.state != One::ended) one.state = One::answered;
    ::shutdown(one.socket, SHUT_WR);
    if (over_) ::shutdown(one.socket, SHUT_RD);
    change_.notify_all();
  }
  constexpr ssize_t most_read = 1 << 20;
  const auto end = std::chrono::steady_clock::now() + 5s;
  std::array<char, 4096> bytes;
  for (ssize_t all = 0, some = 1; some > 0 && all < most_read && std::chrono::steady_clock::now() < end;
       all += some)
    some = ::recv(one.socket, bytes.data(), bytes.size(), 0);
  const std::lock_guard lock(mutex_);
  ::close(one.socket);
  all_.remove_if([&](const One& other) { return &other == &one; });
  --admitted_;
  change_.notify_all();
}

/// Whether a connection has asked and lacks a part of its answer. @pre the mutex is held
bool Connections::one_waits() const {
  return std::ranges::any_of(all_, [](const One& one) { return one.state == One::asked; });
}

bool Connections::wait_for_answers(std::chrono::duration<double> longest) {
  std::unique_lock lock(mutex_);
  return one_waits() && change_.wait_for(lock, longest, [this] { return !one_waits(); });
}

void Connections::end_all() {
  std::unique_lock lock(mutex_);
  over_ = true;
  while (end_first(One::silent)) continue;
  while (end_first(One::answered)) continue;
  change_.wait_for(lock, 250ms, [this] { return !one_waits(); });
  while (end_first(One::asked)) continue;
}

}  // namespace tandem::apps
