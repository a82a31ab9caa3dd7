#pragma once

// Used only within io/.

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "../files/plain_file.hpp"
#include "volume_file.hpp"

namespace tandem::io {

/// A slice that is in its file.
struct DoneSlice {
  Index slice = 0;
  std::uint32_t checksum = 0;  ///< of its voxels, before they were packed
  Index offset = 0;            ///< of its packed voxels in the file
  Index bytes = 0;             ///< of these, or of its file; 0 if the voxels have a place of their own
};

/// What a journal says. It is written beside the volume in the making, for `--resume`.
struct JournalText {
  Identity identity;
  std::string recipe;      ///< one line
  bool is_second = false;  ///< whether the slices are in a second file in the making, of a packed volume
  std::vector<DoneSlice> done;
  int rank = 0;  ///< whose journal it is
};

/// How the writing of a volume begins: with its output, and with what a killed run left there.
struct Beginning {
  Output output;
  JournalText text;
  Comm ranks = {};
};
/// Takes the output, of which a volume or its manifest is made. Where ranks write together, the first one
/// takes it, and what was left; the others join. What a killed run left is cleared if it cannot be gone on
/// with, or if nobody wants that. A journal counts as far as its first damaged line, and if it names a file
/// of this output. @throws FileError that names what differs if that run had another identity
Beginning begin(const std::filesystem::path& target, Content content, Replace replace,
                const std::string& recipe, const Continuation& continuation);

/// Lists slices that are safely on the disk. A thread of its own writes them to the disk, all that have come
/// since the last time, and then lists them: so nothing waits for the disk, and what is listed is there, also
/// after the machine has lost its power.
class Journal {
 public:
  using Sync = std::function<void(const std::vector<DoneSlice>&)>;
  /// `text.done` are on the disk already. `sync` returns when slices are on the disk.
  Journal(Output& output, JournalText text, Sync sync);
  Journal(Journal&&) = delete;
  ~Journal() { stop(); }

  void add(const std::vector<DoneSlice>& slices);  ///< @throws what went wrong in the thread
  void stop();  ///< returns when the thread has ended; it lists nothing more
  /// Stops, and returns when these slices are on the disk. @throws what went wrong
  void complete(const std::vector<DoneSlice>& slices);

 private:
  void work(const std::stop_token& stopped);
  void list(const std::vector<DoneSlice>& some);

  Output& output_;
  JournalText text_;
  Sync sync_;
  std::optional<PlainFile> file_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<DoneSlice> waiting_;
  std::exception_ptr fault_;
  std::jthread thread_;  // the last member: it uses the others
};

}  // namespace tandem::io
