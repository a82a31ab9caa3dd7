#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tandem::io {

class PlainFile;

/// Which files an output may take the place of: those that tandem wrote, and empty ones; or any.
enum class Replace { own, any };

/// Whether tandem wrote this file, by its content: HDF5 with /process/tandem, TIFF whose description begins
/// with "tandem ", PNG whose Software is tandem, the JSON of a report, the manifest of a TIFF volume.
bool is_of_tandem(const std::filesystem::path& path);

/// @throws FileError if the file system takes no names as long as an output of this name needs
void require_name(const std::filesystem::path& target);

/// @throws FileError if a file that may not be replaced stands there, or none can
void require_replaceable(const std::filesystem::path& target, Replace replace);

/// A name that a run writes to. While the object lives nobody else has the name: its files are made in a
/// folder
/// ".NAME.tandem" beside it, of the user alone, with a file in it that is locked as long as the process runs.
/// Nothing stands under the name itself until `publish`; what was not published is removed. Folders that dead
/// runs left beside are known by the lock that nobody holds, and are cleared.
class Output {
 public:
  /// A link to a file stands for the file. @throws FileError if another run has the name, if a file stands
  /// there that may not be replaced, or if the folder does not exist or cannot be written
  Output(const std::filesystem::path& target, Replace replace = Replace::own);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  const std::filesystem::path& target() const;  ///< as it was given
  std::string name() const;                     ///< of the target in its folder
  std::filesystem::path folder() const;         ///< of the target

  /// A new file in the folder under construction. Messages call it by the target's name.
  PlainFile create(const std::string& name);

  /// A step of `publish`: the file `part` takes the place of `name` beside the target; without a part, `name`
  /// is removed there.
  struct Step {
    std::string part, name;
  };
  /// Puts files on the disk, then under their names in this order. The folder is put on the disk before and
  /// after each change of the target itself. `name` is what `published` calls it. @throws FileError
  void publish(const std::vector<Step>& steps, const std::string& name);
  void publish();                       ///< the one file, `name()`
  void write(const std::string& text);  ///< all of the one file, and publishes it. @throws FileError

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Held while files get their names, and by whoever ends the program in the meantime.
std::recursive_mutex& publishing();

/// What this process has published, by the names for messages.
std::vector<std::string> published();

/// Removes what the outputs of this process have made so far and not published: from any thread, for a
/// program that ends without leaving its functions. Call it with `publishing()` held, and end.
void abandon_outputs();

}  // namespace tandem::io
