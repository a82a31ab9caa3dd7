#pragma once

// Used only within io/.

#include <filesystem>
#include <string>
#include <vector>

#include "descriptor.hpp"

namespace tandem::io {

/// The folder ".NAME.tandem" in which the files of one output are made. It and its files are reached by
/// descriptors from the start, so that nothing that is put in their place gets used. See Output.
class OutputFolder {
 public:
  /// Takes the folder, clears it if a dead run of this machine left it, unless `adopt` is given, and clears
  /// those of other dead runs of this machine and this user beside it, if there is no journal in them. A
  /// folder of another machine is only gone on with, by `adopt`: where locks are those of a machine, its run
  /// may be alive. `shown` is the output in messages. @throws FileError
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown, bool adopt);
  /// The folder that another process has, whose lock says `its_mark`. It is waited for a little. @throws
  /// FileError if it does not come
  OutputFolder(const std::filesystem::path& parent, const std::string& name, std::string shown,
               const std::string& its_mark);
  OutputFolder(OutputFolder&&) = delete;
  /// @throws FileError if the name of the folder would be too long for the file system
  static void require_name(const std::filesystem::path& parent, const std::string& name,
                           const std::string& shown);
  ~OutputFolder();

  /// Whether a run of another machine made the folder, which is not this one's before it is signed.
  bool is_of_other_machine() const { return is_of_other_machine_; }
  void sign();  ///< from now on the lock names this run

  std::string share();  ///< the mark by which others find it; they may make files in it until they end
  /// Removes folders that were shared, when nobody makes files in them any more.
  static void clear_shared() noexcept;

  bool has(const std::string& file) const;
  std::vector<std::string> names() const;                       ///< of its files, without the lock
  void discard(const std::string& file);                        ///< removes a file if it is there
  void rename(const std::string& file, const std::string& to);  ///< within the folder. @throws FileError
  void keep_journal() { keep_journal_ = true; }          ///< `remove` then leaves a folder with a journal
  void finish() { keep_journal_ = is_shared_ = false; }  ///< all is published, and nobody else uses it

  Descriptor create(const std::string& file);  ///< a new file. @throws FileError
  Descriptor open(const std::string& file);    ///< a file that was created. @throws FileError
  /// Moves a file to the parent folder under a name, where it replaces what is there. The name may be that of
  /// a file in folders, which are made. If `file` is empty, removes the name. No link is followed. @throws
  /// FileError
  void move(const std::string& file, const std::string& name);
  void sync_parent();      ///< returns when the names are on the disk. @throws FileError
  void remove() noexcept;  ///< removes the folder and all in it, unless it is kept; the name is free

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
