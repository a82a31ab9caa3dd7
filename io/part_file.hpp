#pragma once

// For io/ alone.

#include <filesystem>

namespace tandem::io {

/// A file under construction, "NAME.part" beside its target. It takes the target's name when it is finished;
/// else it is removed.
class PartFile {
 public:
  /// @throws FileError if the target's folder does not exist, or the target is a folder
  explicit PartFile(std::filesystem::path target);
  PartFile(PartFile&& other) noexcept;
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();
  const std::filesystem::path& path() const { return part_; }
  void finish();  ///< @throws FileError

 private:
  std::filesystem::path target_, part_;
};

}  // namespace tandem::io
