#pragma once

// Used only within io/.

#include <filesystem>
#include <string>

#include "descriptor.hpp"

namespace tandem::io {

/// The folder ".NAME.tandem" in which the files of one output are made. It and its files are reached by
/// descriptors from the start, so that nothing that is put in their place gets used. See Output.
class OutputFolder {
 public:
  /// Takes the folder, clears it if a dead run left it, and clears those of other dead runs beside it.
  /// `shown` is the output in messages. @throws FileError
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown);
  OutputFolder(OutputFolder&&) = delete;
  /// @throws FileError if the name of the folder would be too long for the file system
  static void require_name(const std::filesystem::path& parent, const std::string& name,
                           const std::string& shown);
  ~OutputFolder();

  Descriptor create(const std::string& file);  ///< a new file. @throws FileError
  Descriptor open(const std::string& file);    ///< a file that was created. @throws FileError
  /// Moves a file to the parent folder under a name, where it replaces what is there. If `file` is empty,
  /// removes the name. @throws FileError
  void move(const std::string& file, const std::string& name);
  void sync_parent();      ///< returns when the names are on the disk. @throws FileError
  void remove() noexcept;  ///< removes the folder and all in it; the name is free

 private:
  void require_success(bool holds, const char* what) const;

  std::string folder_name_, shown_;
  Descriptor parent_, folder_, lock_;
};

}  // namespace tandem::io
