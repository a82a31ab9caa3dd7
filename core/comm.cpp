#include "comm.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "control.hpp"
#include "mpi/messages.hpp"

namespace tandem {

namespace {

using mpi::Channel;

constexpr double for_an_answer_s = 4, for_the_others_s = 3;

enum Tag { of_gather, of_exchange };

Comm& the_world() {
  static Comm one;
  return one;
}

std::vector<std::function<void()>>& last_deeds() {
  static std::vector<std::function<void()>> all;
  return all;
}

}  // namespace

bool Comm::is_built_in() { return mpi::is_built_in(); }
Comm Comm::world() { return the_world(); }

Comm Comm::start(OnRankFailure on_failure) {
  const mpi::World world = mpi::start();
  if (world.size == 1) {
    mpi::finish();
    return {};
  }
  the_world() = Comm(world.rank, world.size);
  control::begin(world.rank, world.size, std::move(on_failure));
  return the_world();
}

void Comm::barrier() const {
  if (!is_alone()) mpi::barrier();
}

void Comm::all_reduce(std::span<double> values, Combine how) const {
  if (is_alone()) return;
  const std::size_t count = values.size();
  std::vector<double> all(count * size_);
  mpi::all_gather(values.data(), values.size_bytes(), all.data());
  std::copy_n(all.begin(), count, values.begin());
  for (std::size_t k = count; k < all.size(); ++k) {
    double& value = values[k % count];
    value = how == Combine::sum ? value + all[k] : std::min(value, all[k]);
  }
}

std::string Comm::broadcast(std::string text, int from) const {
  if (is_alone()) return text;
  std::size_t bytes = text.size();
  mpi::broadcast(&bytes, sizeof bytes, from);
  text.resize(bytes);
  mpi::broadcast(text.data(), bytes, from);
  return text;
}

std::vector<std::string> Comm::all_gather(const std::string& own) const {
  if (is_alone()) return {own};
  const std::size_t ranks = size_;
  const std::size_t bytes = own.size();
  std::vector<std::size_t> sizes(ranks);
  mpi::all_gather(&bytes, sizeof bytes, sizes.data());
  const std::size_t most = *std::ranges::max_element(sizes);
  std::string padded = own, all(most * ranks, '\0');
  padded.resize(most);
  mpi::all_gather(padded.data(), most, all.data());
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < ranks; ++k) texts.push_back(all.substr(k * most, sizes[k]));
  return texts;
}

std::vector<std::string> Comm::gather(const std::string& own) const {
  if (is_alone()) return {own};
  std::size_t bytes = own.size();
  if (!is_first()) {
    mpi::send(Channel::work, &bytes, sizeof bytes, 0, of_gather);
    mpi::send(Channel::work, own.data(), bytes, 0, of_gather);
    return {};
  }
  std::vector<std::string> texts{own};
  for (int other = 1; other < size_; ++other) {
    mpi::receive(Channel::work, &bytes, sizeof bytes, other, of_gather);
    std::string& text = texts.emplace_back(bytes, '\0');
    mpi::receive(Channel::work, text.data(), bytes, other, of_gather);
  }
  return texts;
}

std::vector<float> Comm::gather(std::span<const float> own) const {
  std::vector<float> all;
  for (const std::string& text : gather({reinterpret_cast<const char*>(own.data()), own.size_bytes()})) {
    const std::size_t before = all.size();
    all.resize(before + text.size() / sizeof(float));
    if (!text.empty()) std::memcpy(all.data() + before, text.data(), text.size());
  }
  return all;
}

void Comm::exchange(std::span<const std::byte> own, int to, std::span<std::byte> other, int from) const {
  if (own.empty() && other.empty()) return;
  mpi::exchange(own.data(), own.size(), to, other.data(), other.size(), from, of_exchange);
}

std::optional<int> Comm::fail(int code, const std::string& text) const {
  if (is_alone()) return std::nullopt;
  if (const std::optional<int> told = ending()) return told;
  control::report(code, text);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(for_an_answer_s);
  while (!ending() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return ending();
}

std::optional<int> Comm::ending() const { return is_alone() ? std::nullopt : control::ending(); }

bool Comm::meet_at_the_end() const { return is_alone() || mpi::barrier_within(for_the_others_s); }

void Comm::before_leaving(std::function<void()> what) const { last_deeds().push_back(std::move(what)); }

void Comm::leave() const {
  if (is_alone()) return;
  control::expect_ends();
  barrier();
  for (const auto& deed : last_deeds()) deed();
  last_deeds().clear();
  control::end();  // no thread may be within MPI when it ends
  mpi::finish();
  the_world() = Comm();
}

SharedCounter::SharedCounter(const Comm& comm) : comm_(comm) {
  if (comm_.is_alone())
    own_ = std::make_unique<std::atomic<Index>>(0);
  else
    name_ = control::new_counter();
}

Index SharedCounter::add(Index count) { return own_ ? own_->fetch_add(count) : control::add(name_, count); }

}  // namespace tandem
