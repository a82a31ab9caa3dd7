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
  std::uint32_t checksum = 0;  ///< checksum of its voxels, before they were packed
  Index offset = 0;            ///< offset of its packed voxels in the file
  Index bytes = 0;             ///< size of these, or of its file; 0 if each slice has a fixed place
};

/// The contents of a journal. It is written beside the volume in the making, for `--resume`.
struct JournalText {
  Identity identity;
  std::string recipe;      ///< one line
  bool is_second = false;  ///< whether the slices are in the second file of a packed volume in the making
  std::vector<DoneSlice> done;
  int rank = 0;  ///< the rank that writes this journal
};

/// The beginning of a volume: its output, and what a killed run left there.
struct Beginning {
  Output output;
  JournalText text;
  Comm ranks = {};
};
/// Takes the output for a volume or its manifest. If ranks write together, the first one takes it, with what
/// a killed run left, and the others join. What was left is cleared if it is not wanted, or if it cannot be
/// completed. A journal is valid up to its first damaged line, and only if it names a file of this output.
/// @throws FileError that names what differs, if that run had another identity
Beginning begin(const std::filesystem::path& target, Content content, Replace replace,
                const std::string& recipe, const Continuation& continuation);

/// Lists slices that are safely on the disk. A thread of its own writes all slices that have come since the
/// last time to the disk, and then lists them. So no other thread waits for the disk, and every slice that is
/// listed is there, even after the machine has lost its power.
class Journal {
 public:
  using Sync = std::function<void(const std::vector<DoneSlice>&)>;
  /// `text.done` are slices that are on the disk already. `sync` returns when slices are on the disk.
  Journal(Output& output, JournalText text, Sync sync);
  Journal(Journal&&) = delete;
  ~Journal() { stop(); }

  void add(const std::vector<DoneSlice>& slices);  ///< adds slices. @throws what went wrong in the thread
  void stop();                                     ///< ends the thread, after which nothing more is listed
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
  std::jthread thread_;  // the last member, since it uses the others
};

}  // namespace tandem::io
