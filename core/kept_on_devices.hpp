#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <typeinfo>
#include <vector>

#include "device.hpp"

namespace tandem {

/// What kernels make of a value that does not change, tables for example. It is a member of that value. For
/// each device it is made once, when it is first needed, and it stays until the value is destroyed. Several
/// threads and streams may use it at once. A copy begins without anything, since it may become another value.
class KeptOnDevices {
  struct Entry;

 public:
  /// The streams of a device on which memory of what is kept comes and goes. They live until the program
  /// ends. Work on `coming` waits for nothing else. `going` waits for all uses before memory is given back.
  struct Streams {
    Stream coming, going;
  };
  /// Tells apart kept values of the same type.
  using Key = std::array<std::int64_t, 3>;

  /// Work that is queued on the stream before this is destroyed may read the value.
  template <class T>
  class Use {
   public:
    Use(Use&&) = delete;
    ~Use() { kept_.end_use(entry_, stream_); }
    const T& operator*() const { return *static_cast<const T*>(value_); }
    const T* operator->() const { return &**this; }

   private:
    friend KeptOnDevices;
    Use(const KeptOnDevices& kept, Entry& entry, const Stream& stream)
        : kept_(kept), entry_(entry), value_(value_of(entry)), stream_(stream) {}
    const KeptOnDevices& kept_;
    Entry& entry_;
    const void* value_;
    const Stream& stream_;
  };

  KeptOnDevices();
  KeptOnDevices(const KeptOnDevices&) : KeptOnDevices() {}
  KeptOnDevices& operator=(const KeptOnDevices&);
  ~KeptOnDevices();

  /// The T of the stream's device, which must outlive the result. `make(streams)` returns it the first time:
  /// it queues its work on `coming`, and its destructor queues on `going`. @throws what `make` throws, and
  /// then keeps nothing; DeviceError
  template <class T, class Make>
  Use<T> use(const Stream& stream, const Key& key, const Make& make) const {
    const Maker anything = [&](const Streams& streams) { return std::shared_ptr<T>(new T(make(streams))); };
    return Use<T>(*this, begin_use(typeid(T), key, stream, anything), stream);
  }
  template <class T, class Make>
  Use<T> use(const Stream& stream, const Make& make) const {
    return use<T>(stream, {}, make);
  }

 private:
  using Maker = std::function<std::shared_ptr<void>(const Streams&)>;
  Entry& begin_use(const std::type_info& type, const Key& key, const Stream& stream, const Maker& make) const;
  void end_use(Entry& entry, const Stream& stream) const noexcept;
  static const void* value_of(const Entry& entry);

  mutable std::mutex access_;
  mutable std::vector<std::unique_ptr<Entry>> entries_;
};

}  // namespace tandem
