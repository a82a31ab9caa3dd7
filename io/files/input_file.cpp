#include "input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "../../core/error.hpp"
#include "text.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

bool is_special(const fs::path& path) {
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

void require_regular_file(const fs::path& path) {
  const std::string name = path.string();
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  require<FileError>(status.type() != fs::file_type::not_found, name, ": no such file or folder");
  require<FileError>(!fault, name, ": cannot be opened: ", fault.message(),
                     "; check its name and permissions");
  require<FileError>(!fs::is_directory(status), name, ": is a folder; a file is needed");
  require<FileError>(fs::is_regular_file(status), name, ": is a pipe or a device; a regular file is needed");
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const int reason = errno;
  require<FileError>(descriptor >= 0, name, ": cannot be opened: ", reason_of(reason),
                     is_of_few_handles(reason) ? "" : "; check its permissions");
  ::close(descriptor);
}

bool lies_within(const fs::path& file, const fs::path& folder) {
  std::error_code fault;
  const fs::path real = fs::weakly_canonical(file, fault);
  const auto [rest, unused] = std::mismatch(folder.begin(), folder.end(), real.begin(), real.end());
  return !fault && !folder.empty() && rest == folder.end();
}

FileStamp stamp_of(const fs::path& path, const std::string& where) {
  struct stat found {};
  const bool seen = ::stat(path.c_str(), &found) == 0;
  require<FileError>(seen, where, ": ", path.string(), " cannot be seen: ", std::strerror(errno));
  return {path, static_cast<std::uintmax_t>(found.st_size),
          std::int64_t{found.st_mtim.tv_sec} * 1'000'000'000 + found.st_mtim.tv_nsec};
}

void require_unchanged(const FileStamp& stamp, const std::string& where) {
  const FileStamp now = stamp_of(stamp.path, where);
  require<FileError>(now.bytes == stamp.bytes, where, ": ", stamp.path.string(), " had ", stamp.bytes,
                     " bytes when it was opened, and has ", now.bytes,
                     " now; wait until it is written, then start again");
  require<FileError>(now == stamp, where, ": ", stamp.path.string(),
                     " was written to since it was opened; wait until it is finished, then start again");
}

InputFile::InputFile(const fs::path& path, const std::string& where)
    : where_(where),
      name_(path.string()),
      descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
  const int reason = errno;
  require<FileError>(descriptor_.valid(), where, ": ", name_, " cannot be opened: ", reason_of(reason),
                     is_of_few_handles(reason) ? "" : "; check its permissions");
  // The kernel reads ahead, since it expects one reader from front to back. Here several threads read a few
  // rows of each view, so it would bring whole views to memory. So it is told to bring only what is asked
  // for, and `expect` tells it what that will be. Then the disk works on many pieces at once.
  ::posix_fadvise(descriptor_.number(), 0, 0, POSIX_FADV_RANDOM);
}

void InputFile::expect(Index offset, Index bytes) const {
  ::posix_fadvise(descriptor_.number(), offset, bytes, POSIX_FADV_WILLNEED);
}

void InputFile::read(Index offset, Index bytes, std::byte* out) const {
  constexpr Index most = 1 << 30;  // Linux reads less than 2 GiB in one call
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_.number(), out, std::min(bytes, most), offset);
    if (got < 0 && errno == EINTR) continue;
    require<FileError>(got >= 0, where_, ": ", name_, " cannot be read: ", std::strerror(errno));
    require<FileError>(got > 0, where_, ": ", name_, " ends before byte ", offset + bytes,
                       "; it is damaged or was cut short");
    out += got, offset += got, bytes -= got;
  }
}

}  // namespace tandem::io
