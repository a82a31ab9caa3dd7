#include "device.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <ostream>
#include <set>

#include "cuda/runtime.hpp"
#include "error.hpp"
#include "instruction_set.hpp"

namespace tandem {

namespace {

void require_here(Device gpu) {
  require<DeviceError>(gpu.is_cuda() && gpu.ordinal() < cuda::device_count(), "device ", gpu.name(),
                       cuda_version().empty() ? ": this build has no CUDA; " : ": not found; ",
                       cuda::device_count(), " CUDA devices are here, use one of them or the cpu");
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "CPU";
}

}  // namespace

std::string Device::name() const {
  std::string text;
  for (int k = 0; k < members(); ++k) {
    const int ordinal = member(k).ordinal_;
    text += (k > 0 ? " + " : "") + (ordinal < 0 ? "cpu" : "cuda:" + std::to_string(ordinal));
  }
  return text;
}

std::ostream& operator<<(std::ostream& to, Device device) { return to << device.name(); }

Device Device::team(const std::vector<Device>& members) {
  require<DeviceError>(!members.empty(), "team: no device is given");
  for (const Device member : members)
    require<DeviceError>(member.is_cuda() == members.front().is_cuda() && !member.team_,
                         "team: ", members.front().name(), " and ", member.name(),
                         "; give several GPUs, or the CPU several times");
  if (members.size() == 1) return members.front();
  static std::mutex mutex;
  static auto& teams = *new std::set<std::vector<Device>>;  // devices point to them
  const std::lock_guard lock(mutex);
  Device team = members.front();
  team.team_ = &*teams.insert(members).first;
  return team;
}

Device Device::named(const std::string& name) {
  if (name == "cpu") return cpu();
  if (name == "cuda") return cuda(0);
  const bool digits =
      name.size() > 5 && name.size() < 9 && name.find_first_not_of("0123456789", 5) == std::string::npos;
  require<DeviceError>(name.rfind("cuda:", 0) == 0 && digits, "device '", name,
                       "' is not known; cpu, cuda or cuda:N");
  return cuda(std::stoi(name.substr(5)));
}

std::vector<Device> devices() {
  std::vector<Device> all{Device::cpu()};
  for (int i = 0; i < cuda::device_count(); ++i)
    if (cuda::compute_capability(i) >= least_capability) all.push_back(Device::cuda(i));
  return all;
}

std::string description(Device device) {
  if (!device.is_cuda()) return cpu_model() + ", " + instruction_set();
  require_here(device);
  return cuda::device_name(device.ordinal());
}

double gigaclocks(Device device) { return device.is_cuda() ? cuda::gigaclocks(device.ordinal()) : 0; }

ComputeCapability compute_capability(Device device) {
  return device.is_cuda() ? cuda::compute_capability(device.ordinal()) : ComputeCapability{};
}

void require_capability(Device gpu, const std::string& card, ComputeCapability has) {
  require<DeviceError>(has >= least_capability, "device ", gpu.name(), ": ", card, " has compute capability ",
                       has.major, '.', has.minor, ", kernels need ", least_capability.major, '.',
                       least_capability.minor, " or more; use another GPU or the cpu");
}

void require_usable(Device gpu) {
  // a GPU that was found stays, and callers ask before every call
  static std::atomic<std::uint64_t> found{0};
  const std::uint64_t bit = gpu.is_cuda() && gpu.ordinal() < 64 ? std::uint64_t{1} << gpu.ordinal() : 0;
  if (found & bit) return;
  require_here(gpu);
  const ComputeCapability has = compute_capability(gpu);
  if (has < least_capability) require_capability(gpu, cuda::device_name(gpu.ordinal()), has);
  found |= bit;
}

std::size_t free_memory(Device gpu) {
  require_here(gpu);
  return cuda::free_memory(gpu.ordinal());
}

std::string cuda_version() { return cuda::runtime_version(); }

Stream::Stream(Device device, Priority priority) : device_(device) {
  if (device.members() > 1) {
    members_ = std::make_shared<std::vector<Stream>>();
    for (int k = 0; k < device.members(); ++k) members_->emplace_back(device.member(k), priority);
    for (int k = 0; device.is_cuda() && k < device.members(); ++k)
      for (int from = 0; from < device.members(); ++from)
        cuda::let_reach(device.member(k).ordinal(), device.member(from).ordinal());
    return;
  }
  if (!device.is_cuda()) return;
  require_usable(device);
  native_ = cuda::make_stream(device.ordinal(), priority);
}

Stream Stream::foreign(Device gpu, std::shared_ptr<void> native) {
  require<DeviceError>(gpu.members() == 1, "Stream::foreign: ", gpu.name(), " is a team; name one GPU");
  require_usable(gpu);
  return Stream(gpu, std::move(native));
}

void Stream::synchronize() const {
  if (!device_.is_cuda()) return;
  for (int k = 0; k < device_.members(); ++k)
    cuda::synchronize(device_.member(k).ordinal(), member(k).native());
}

void Stream::wait(const Event& event) const {
  if (!device_.is_cuda()) return;
  for (int k = 0; k < device_.members(); ++k)
    for (const auto& passed : event.of_members_)
      cuda::wait(device_.member(k).ordinal(), member(k).native(), passed.get());
}

Event::Event(Device device) {
  for (int k = 0; device.is_cuda() && k < device.members(); ++k)
    of_members_.push_back(cuda::make_event(device.member(k).ordinal()));
}

void Event::record(const Stream& stream) {
  for (std::size_t k = 0; k < of_members_.size(); ++k) {
    const Stream& member = stream.member(static_cast<int>(k));
    cuda::record(member.device().ordinal(), of_members_[k].get(), member.native());
  }
}

bool Event::has_passed() const {
  return std::all_of(of_members_.begin(), of_members_.end(),
                     [](const auto& passed) { return cuda::has_passed(passed.get()); });
}

void Event::synchronize() const {
  for (const auto& passed : of_members_) cuda::synchronize_event(passed.get());
}

namespace {

/// Streams of threads that have ended, for threads to come. It is never destroyed: some threads end with the
/// process, when the driver may be gone already, and a stream that is destroyed then takes the process down.
struct LeftStreams {
  std::mutex mutex;
  std::multimap<Device, Stream> streams;

  static LeftStreams& all() {
    static auto* left = new LeftStreams;
    return *left;
  }
  Stream taken(Device device) {
    const std::lock_guard lock(mutex);
    const auto found = streams.find(device);
    return found == streams.end() ? Stream(device) : std::move(streams.extract(found).mapped());
  }
};

struct ThreadStreams {
  std::map<Device, Stream> streams;
  ~ThreadStreams() {
    LeftStreams& left = LeftStreams::all();
    const std::lock_guard lock(left.mutex);
    left.streams.merge(streams);
  }
};

}  // namespace

Stream& default_stream(Device device) {
  thread_local ThreadStreams own;
  const auto found = own.streams.find(device);
  if (found != own.streams.end()) return found->second;
  return own.streams.emplace(device, LeftStreams::all().taken(device)).first->second;
}

UseStream::UseStream(const Stream& stream)
    : before_(std::exchange(default_stream(stream.device()), stream)) {}
UseStream::~UseStream() { default_stream(before_.device()) = before_; }

KeepCurrentGpu::KeepCurrentGpu() : before_(cuda::current_device()) {}
KeepCurrentGpu::KeepCurrentGpu(Device only) : KeepCurrentGpu() {
  if (only.members() == 1 && only.ordinal() == before_) before_ = -1;
}
KeepCurrentGpu::~KeepCurrentGpu() {
  if (before_ >= 0) cuda::make_current(before_);
}

}  // namespace tandem
