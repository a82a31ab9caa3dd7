#pragma once

namespace tandem {

/// A named range in profiles, from here to the end of the scope, on the calling thread: NVTX, which Nsight
/// Systems shows. Nothing in a build without CUDA.
class ProfileRange {
 public:
  explicit ProfileRange(const char* name);
  ~ProfileRange();
  ProfileRange(const ProfileRange&) = delete;
  ProfileRange& operator=(const ProfileRange&) = delete;
};

}  // namespace tandem
