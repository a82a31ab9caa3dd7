#pragma once

// Used only within io/.

#include <filesystem>
#include <string>
#include <vector>

#include "descriptor.hpp"

namespace tandem::io {

/// The folder ".NAME.tandem" in which the files of one output are made. From the start it and its files are
/// reached by descriptors, so that nothing that is put in their place is used. See Output.
class OutputFolder {
 public:
  /// Takes the folder. Clears it if a dead run of this machine left it, unless `adopt` is given. Removes the
  /// folders beside it that other dead runs of this machine and this user left, if they have no journal. A
  /// folder of another machine can only be adopted: if that machine does not see our locks, nor we its locks,
  /// its run may be alive. `shown` is the output in messages. @throws FileError
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown, bool adopt);
  /// Joins the folder of another process, whose lock has the text `its_mark`. Waits a little until it
  /// appears. @throws FileError if it does not
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown,
               const std::string& its_mark);
  OutputFolder(OutputFolder&&) = delete;
  /// @throws FileError if the name of the folder would be too long for the file system
  static void require_name(const std::filesystem::path& parent, const std::string& name,
                           const std::string& shown);
  ~OutputFolder();

  /// Whether a run on another machine made the folder. It does not belong to this run before `sign`.
  bool is_of_other_machine() const { return is_of_other_machine_; }
  void sign();  ///< makes the lock name this run

  std::string share();  ///< the mark by which other processes find it to make files in it until they end
  /// Removes folders that were shared, if no process makes files in them any more.
  static void clear_shared() noexcept;

  bool has(const std::string& file) const;
  bool has_journal() const;
  std::vector<std::string> names() const;                       ///< names of its files, without the lock
  void discard(const std::string& file);                        ///< removes a file if it is there
  void rename(const std::string& file, const std::string& to);  ///< within the folder. @throws FileError
  void keep_journal() { keep_journal_ = true; }          ///< makes `remove` leave a folder with a journal
  void finish() { keep_journal_ = is_shared_ = false; }  ///< says that nobody else uses it

  Descriptor create(const std::string& file);  ///< makes a new file. @throws FileError
  Descriptor open(const std::string& file);    ///< opens a file that was created. @throws FileError
  /// Moves a file to the parent folder, where it replaces a file of this name. The name may have folders,
  /// which are made. If `file` is empty, removes the name. No link is followed. @throws FileError
  void move(const std::string& file, const std::string& name);
  void sync_parent();      ///< returns when the names are on the disk. @throws FileError
  void remove() noexcept;  ///< frees the name, and removes the folder and all in it unless it is kept

 private:
  void require_success(bool holds, const char* what) const;
  void claim(const std::filesystem::path& parent, const std::string& name, bool adopt);
  void require_within(const std::string& file) const;
  Descriptor folder_in(const Descriptor& above, const std::string& name, bool make) const;

  std::string folder_name_, shown_;
  Descriptor parent_, folder_, lock_;
  bool keep_journal_ = false, is_shared_ = false, is_joined_ = false, is_of_other_machine_ = false;
};

}  // namespace tandem::io
