#include "text_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "../../core/error.hpp"
#include "descriptor.hpp"
#include "text.hpp"

namespace tandem::io {

namespace {

namespace fs = std::filesystem;

constexpr int patience_ms = 5'000;  // the longest time between two pieces that come through a pipe

/// Whether there is more to read, or the end of the file, before the time is over.
bool comes(int file) {
  pollfd waited{file, POLLIN, 0};
  int found = 0;
  do found = ::poll(&waited, 1, patience_ms);
  while (found < 0 && errno == EINTR);
  return found > 0;
}

std::string text_in(const fs::path& path, const std::string& needed, Index most, bool from_pipe) {
  const std::string name = path.string();
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int reason = errno;
  require<FileError>(file.valid(), name, ": cannot be read: ", reason_of(reason), "; ", needed, " is needed");
  struct stat found {};
  require<FileError>(::fstat(file.number(), &found) == 0 && !S_ISDIR(found.st_mode), name, ": is a folder; ",
                     needed, " is needed");
  const bool is_pipe = S_ISFIFO(found.st_mode) && from_pipe;
  require<FileError>(S_ISREG(found.st_mode) || is_pipe, name, ": is a pipe or a device; ", needed,
                     " is needed");
  const std::string too_long =
      name + ": has more than " + std::to_string(most) + " bytes; " + needed + " is needed";
  require<FileError>(found.st_size <= most, too_long);  // before they are read
  std::string text;
  std::vector<char> piece(1 << 16);
  while (std::ssize(text) <= most) {
    require<FileError>(!is_pipe || comes(file.number()), name, ": nothing comes through this pipe; ", needed,
                       " is needed");
    const ssize_t bytes = ::read(file.number(), piece.data(), piece.size());
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    require<FileError>(bytes >= 0, name, ": cannot be read: ", std::strerror(errno), "; ", needed,
                       " is needed");
    if (bytes == 0) return text;
    text.append(piece.data(), bytes);
  }
  throw FileError(too_long);
}

}  // namespace

std::string text_of_file(const fs::path& path, const std::string& needed, Index most) {
  return text_in(path, needed, most, true);
}

std::string text_of_regular_file(const fs::path& path, const std::string& needed, Index most) {
  return text_in(path, needed, most, false);
}

}  // namespace tandem::io
