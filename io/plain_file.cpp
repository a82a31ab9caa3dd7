#include "tandem/io/plain_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "tandem/core/error.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

PlainFile::PlainFile(const fs::path& path)
    : name_(path.string()), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) {
  require<FileError>(descriptor_ >= 0, name_, ": cannot be written: ", std::strerror(errno));
}

PlainFile::~PlainFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void PlainFile::write(Index offset, const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, next, bytes, offset);
    if (written < 0 && errno == EINTR) continue;
    require<FileError>(written > 0, name_, ": cannot be written: ", std::strerror(errno));
    next += written;
    offset += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void PlainFile::require_room(Index bytes) {
  const Index end = static_cast<Index>(fs::file_size(name_));
  const std::vector<char> zeros(static_cast<std::size_t>(bytes));
  write(end, zeros.data(), zeros.size());
  const int restored = ::ftruncate(descriptor_, end);
  require<FileError>(restored == 0, name_, ": cannot be written: ", std::strerror(errno));
}

void PlainFile::close() {
  const int closed = ::close(std::exchange(descriptor_, -1));
  require<FileError>(closed == 0, name_, ": cannot be written: ", std::strerror(errno));
}

void make_room(const fs::path& path, double bytes) {
  PlainFile file(path);
  std::error_code fault;
  const double available = static_cast<double>(fs::space(path, fault).available);
  require<FileError>(fault || bytes <= available, path.string(), ": cannot be written: needs ", bytes / 1e9,
                     " GB; the disk has ", available / 1e9, " GB free");
  fs::resize_file(path, static_cast<std::uintmax_t>(bytes), fault);
  require<FileError>(!fault, path.string(), ": cannot be written: ", bytes / 1e9, " GB: ", fault.message());
  fs::resize_file(path, 0, fault);
}

}  // namespace tandem::io
