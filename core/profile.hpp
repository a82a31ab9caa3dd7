#pragma once

namespace tandem {

/// A named range in profiles, on the calling thread, from here to the end of the scope. It is an NVTX range,
/// which Nsight Systems shows. In a build without CUDA it does nothing.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name);
  ~ProfileRange();
  ProfileRange(ProfileRange&&) = delete;
};

}  // namespace tandem
