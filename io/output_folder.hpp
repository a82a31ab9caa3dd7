#pragma once

// For io/ alone.

#include <filesystem>
#include <string>

#include "descriptor.hpp"

namespace tandem::io {

/// The folder ".NAME.tandem" in which the files of one output are made, reached by descriptors from the
/// start: whatever is put in its place or in theirs meanwhile is no way in. See Output.
class OutputFolder {
 public:
  /// Takes the folder, clears it if a dead run left it, and clears those of other dead runs beside it.
  /// `shown` is the output in messages. @throws FileError
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown);
  OutputFolder(OutputFolder&&) = delete;
  /// @throws FileError if the folder's name would be longer than the file system has names
  static void require_name(const std::filesystem::path& parent, const std::string& name,
                           const std::string& shown);
  ~OutputFolder();

  Descriptor create(const std::string& file);  ///< a new file. @throws FileError
  Descriptor open(const std::string& file);    ///< one that was made. @throws FileError
  /// Moves a file to the parent under a name, where it takes the place of what is there; without a file,
  /// removes the name. @throws FileError
  void move(const std::string& file, const std::string& name);
  void sync_parent();      ///< returns when the disk has the names. @throws FileError
  void remove() noexcept;  ///< the folder and all in it; the name is free

 private:
  void require_success(bool holds, const char* what) const;

  std::string folder_name_, shown_;
  Descriptor parent_, folder_, lock_;
};

}  // namespace tandem::io
