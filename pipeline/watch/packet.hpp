#pragma once

#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../../core/error.hpp"

namespace tandem::pipeline {

/// Values on their way to another rank, as bytes. The same calls of `pass` write them and read them, so that
/// one list of values serves for both.
class Packet {
 public:
  Packet() = default;  ///< an empty packet, to be written
  explicit Packet(std::string bytes) : bytes_(std::move(bytes)), reads_(true) {}
  bool reads() const { return reads_; }
  const std::string& bytes() const { return bytes_; }

  /// Writes or reads these bytes. @throws DeviceError if fewer bytes are left
  void pass(void* value, std::size_t bytes) {
    if (!reads_) return void(bytes_.append(static_cast<const char*>(value), bytes));
    require<DeviceError>(bytes <= bytes_.size() - at_, "ranks: a message of another rank is too short");
    at_ += bytes_.copy(static_cast<char*>(value), bytes, at_);
  }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  bool reads_ = false;
};

template <class T>
requires std::is_trivially_copyable_v<T>
void pass(Packet& packet, T& value) { packet.pass(&value, sizeof value); }

inline void pass(Packet& packet, std::string& text) {
  std::size_t size = text.size();
  pass(packet, size);
  text.resize(size);
  packet.pass(text.data(), size);
}

/// A type with members has a `pass` of its own, which stands before its use.
template <class T>
void pass(Packet& packet, std::vector<T>& values) {
  std::size_t size = values.size();
  pass(packet, size);
  values.resize(size);
  for (T& value : values) pass(packet, value);
}

template <class T>
void pass(Packet& packet, std::map<std::string, T>& values) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  pass(packet, names);
  for (const std::string& name : names) pass(packet, values[name]);
}

}  // namespace tandem::pipeline
