// The same functions for a build without CUDA.
#include "../error.hpp"
#include "runtime.hpp"

namespace tandem::cuda {

namespace {

[[noreturn]] void not_built(int ordinal) {
  throw DeviceError("device cuda:" + std::to_string(ordinal) + ": this build has no CUDA; use the cpu");
}

}  // namespace

int device_count() { return 0; }
int current_device() { return -1; }
void make_current(int) noexcept {}
ComputeCapability compute_capability(int) { return {}; }
std::string device_name(int) { return {}; }
double gigaclocks(int ordinal) { not_built(ordinal); }
std::string runtime_version() { return {}; }
void begin_range(const char*) {}
void end_range() {}
std::shared_ptr<void> make_stream(int ordinal, Priority) { not_built(ordinal); }
void synchronize(int ordinal, void*) { not_built(ordinal); }
std::shared_ptr<void> make_event(int ordinal) { not_built(ordinal); }
void record(int, void*, void*) {}
void wait(int, void*, void*) {}
void synchronize_event(void*) {}
bool has_passed(void*) { return true; }
std::size_t free_memory(int ordinal) { not_built(ordinal); }
void* allocate(int ordinal, std::size_t, void*) { not_built(ordinal); }
void fill_zeros(int ordinal, void*, std::size_t, void*) { not_built(ordinal); }
void release(int, void*, void*) noexcept {}
void copy(int ordinal, void*, const void*, std::size_t, void*) { not_built(ordinal); }
void copy_between(int ordinal, void*, int, const void*, std::size_t, void*) { not_built(ordinal); }
void let_reach(int, int) {}
void copy_pieces(int ordinal, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, void*) {
  not_built(ordinal);
}
void carry(int ordinal, void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, void*) {
  not_built(ordinal);
}
void bring(int ordinal, void*, const void*, std::size_t, void*) { not_built(ordinal); }
void send(int ordinal, void*, const void*, std::size_t, void*) { not_built(ordinal); }
std::shared_ptr<void> pin(int, const void*, std::size_t) { return {}; }

}  // namespace tandem::cuda
