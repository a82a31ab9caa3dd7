#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tandem::io {

class PlainFile;

/// The end of a journal's name, see Journal.
constexpr const char* journal_ending = ".journal";

/// What tandem writes into a file.
enum class Content { volume, scan, geometry, manifest, checkpoint, report, page, picture, recipe, log };

/// Which files an output may replace: those of the same content that tandem wrote (own), or any.
enum class Replace { own, any };

/// What a file holds that tandem wrote, by marks in it: HDF5 with /process/tandem, TIFF whose description
/// begins with "tandem ", PNG whose Software is tandem, the JSON of a report, its page, the manifest of a
/// TIFF volume, a log, a recipe, or a check-point. Empty for any other file.
std::optional<Content> content_of(const std::filesystem::path& path);

/// The folder in which a file lies.
std::filesystem::path folder_of(const std::filesystem::path& path);

/// @throws FileError if the file system does not allow names as long as an output of this name needs
void require_name(const std::filesystem::path& target);

/// @throws FileError if there is a file that such content may not replace, or if no file can have this name
void require_replaceable(const std::filesystem::path& target, Content content, Replace replace);
/// The same check for a file that exists, and that messages call `name`.
void require_content(const std::filesystem::path& file, const std::string& name, Content content,
                     Replace replace);

/// A name to which a run writes. As long as the object lives, no other run has the name. Its files are made
/// in a folder ".NAME.tandem" beside it, which belongs to the user alone. A file in that folder is locked as
/// long as the process runs. No file has the name itself before `publish`, and what was not published is
/// removed. Folders of dead runs have a lock that nobody holds, and are cleared.
class Output {
 public:
  /// Takes the name. A link to a file stands for that file. With `adopt`, what a dead run left in the folder
  /// stays there. If this run does not publish either, the folder stays too, provided that it has a journal.
  /// @throws FileError if another run has the name, if there is a file that may not be replaced, or if the
  /// folder does not exist or cannot be written
  Output(const std::filesystem::path& target, Content content, Replace replace = Replace::own,
         bool adopt = false);
  /// Joins an output that another process has and shares (`share`). It can only make files in its folder.
  /// @throws FileError if the folder is not seen from here
  static Output join(const std::filesystem::path& target, const std::string& mark);
  Output(Output&&) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  const std::filesystem::path& target() const;  ///< the target as it was given
  std::string name() const;                     ///< name of the target in its folder
  std::filesystem::path folder() const;         ///< folder of the target

  /// Whether a run on another machine made the folder that was adopted. It stays as it is until `take_over`.
  bool is_of_other_machine() const;
  void take_over();

  void keep_journal();  ///< leaves the folder if it has a journal when this ends before `publish`

  /// Allows other processes to make files in the folder. They find it by the mark that this returns.
  std::string share();

  /// Makes a new file in the folder ".NAME.tandem". Messages give it the name of the target.
  PlainFile create(const std::string& name);

  bool has(const std::string& name) const;
  PlainFile open(const std::string& name);  ///< opens a file of the folder. @throws FileError
  std::vector<std::string> names() const;   ///< names of all files in the folder
  void discard(const std::string& name);
  void rename(const std::string& name, const std::string& to);  ///< within the folder. @throws FileError

  /// A step of `publish`: the file `part` replaces `name` beside the target. If `part` is empty, `name` is
  /// removed.
  struct Step {
    std::string part, name;
  };
  /// Writes files to the disk, then gives them their names in this order. The folder is written to the disk
  /// before and after each change of the last name, which marks all as complete. `name` is added to
  /// `published`; it is empty for files that the run removes in the end. @throws FileError, also if a file
  /// came meanwhile that may not be replaced
  void publish(const std::vector<Step>& steps, const std::string& name);
  /// Checks once more whether names may be replaced, since another program may have written there. If not,
  /// what was made stays, if a run can go on from it. @throws FileError
  void look_again(const std::function<void()>& require_replaceable);
  void publish();                       ///< publishes the only file, `name()`
  void write(const std::string& text);  ///< writes the only file and publishes it. @throws FileError

 private:
  struct Impl;
  explicit Output(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A folder for outputs. It is made if it is not there, and removed again if it stays empty, also where
/// `abandon_outputs` ends the program.
class MadeFolder {
 public:
  explicit MadeFolder(std::filesystem::path path);  ///< @throws FileError
  MadeFolder(MadeFolder&&) = delete;
  ~MadeFolder();

 private:
  std::filesystem::path path_;
};

/// The lock that is held while files get their names. A thread that ends the program holds it too.
std::recursive_mutex& publishing();

/// The names, for messages, of all outputs that this process has published.
std::vector<std::string> published();

/// Removes what the outputs of this process have made and not published. Any thread may call it to end the
/// program without returning from its functions. Call it with `publishing()` held, and then end the program.
void abandon_outputs();

/// Removes what is left of outputs that were shared and not published, if no process uses them any more.
void clear_shared_outputs();

}  // namespace tandem::io
