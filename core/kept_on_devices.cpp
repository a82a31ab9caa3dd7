#include "kept_on_devices.hpp"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>

namespace tandem {

namespace {

const KeptOnDevices::Streams& streams_of(Device device) {
  static std::mutex mutex;
  static auto& all = *new std::map<Device, KeptOnDevices::Streams>;  // the driver may end before a stream
  const std::lock_guard lock(mutex);
  const auto found = all.find(device);
  if (found != all.end()) return found->second;
  return all.emplace(device, KeptOnDevices::Streams{Stream(device, Priority::urgent), Stream(device)})
      .first->second;
}

/// Threads can have streams of their own with one name: cudaStreamPerThread.
struct Reader {
  const void* stream;
  std::thread::id thread;
  Event passed;  ///< behind its last use
  bool is(const void* other, std::thread::id its_thread) const {
    return stream == other && thread == its_thread;
  }
};

}  // namespace

struct KeptOnDevices::Entry {
  const std::type_info& type;
  Key key;
  Device device;
  const Streams& streams;
  Event made;
  bool there = false;  ///< whether `made` has passed
  std::vector<Reader> readers{};
  std::shared_ptr<void> value{};

  Entry(const std::type_info& t, const Key& k, Device d)
      : type(t), key(k), device(d), streams(streams_of(d)), made(d) {}
  Entry(Entry&&) = delete;
  /// What fails here has failed elsewhere, or the driver has ended.
  ~Entry() {
    try {
      streams.going.wait(made);
      for (const Reader& reader : readers) streams.going.wait(reader.passed);
    } catch (...) {
    }
  }
};

KeptOnDevices::KeptOnDevices() = default;

KeptOnDevices& KeptOnDevices::operator=(const KeptOnDevices& other) {
  if (this == &other) return *this;
  const KeepCurrentGpu keep;
  entries_.clear();
  return *this;
}

KeptOnDevices::~KeptOnDevices() {
  if (entries_.empty()) return;
  const KeepCurrentGpu keep;
  entries_.clear();
}

const void* KeptOnDevices::value_of(const Entry& entry) { return entry.value.get(); }

KeptOnDevices::Entry& KeptOnDevices::begin_use(const std::type_info& type, const Key& key,
                                               const Stream& stream, const Maker& make) const {
  const std::lock_guard lock(access_);
  auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
    return entry->device == stream.device() && entry->type == type && entry->key == key;
  });
  if (found == entries_.end()) {
    auto entry = std::make_unique<Entry>(type, key, stream.device());
    entry->value = make(entry->streams);
    entry->made.record(entry->streams.coming);
    found = entries_.insert(entries_.end(), std::move(entry));
  }
  Entry& entry = **found;
  if (!entry.there) entry.there = entry.made.has_passed();
  if (!entry.there) stream.wait(entry.made);
  return entry;
}

void KeptOnDevices::end_use(Entry& entry, const Stream& stream) const noexcept try {
  if (!stream.device().is_cuda()) return;
  const std::lock_guard lock(access_);
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<Reader>& all = entry.readers;
  auto own = std::find_if(all.begin(), all.end(),
                          [&](const Reader& reader) { return reader.is(stream.native(), thread); });
  if (own == all.end())
    own = std::find_if(all.begin(), all.end(), [](const Reader& r) { return r.passed.has_passed(); });
  if (own == all.end()) own = all.insert(all.end(), {nullptr, {}, Event(stream.device())});
  own->stream = stream.native(), own->thread = thread;
  own->passed.record(stream);
} catch (...) {  // the stream has failed, which its next call says
}

}  // namespace tandem
