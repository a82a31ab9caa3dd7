#include "checkpoint_file.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "../core/error.hpp"
#include "../core/spelled.hpp"
#include "files/checksum.hpp"
#include "files/plain_file.hpp"
#include "files/text.hpp"

namespace tandem::io {

namespace {

// The file has this first line; a line "NAME BYTES" and the bytes for each part; and the checksum of all.
constexpr std::string_view first_line = "tandem checkpoint\n";
constexpr Index checksum_bytes = sizeof(std::uint32_t);

std::string head_of(const std::string& part, Index bytes) {
  return part + ' ' + std::to_string(bytes) + '\n';
}

PlainFile opened(const std::filesystem::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  require<FileError>(file.number() >= 0, path.string(), ": cannot be read: ", reason_of(errno));
  return {std::move(file), path.string()};
}

}  // namespace

CheckpointWriter::CheckpointWriter(Output& output, std::string name, Index bytes)
    : output_(output), name_(std::move(name)) {
  output_.discard(name_);  // left by a try that failed
  file_ = std::make_unique<PlainFile>(output_.create(name_));
  file_->require_space(bytes);
  write(first_line.data(), first_line.size());
}

CheckpointWriter::~CheckpointWriter() {
  if (file_) output_.discard(name_);
}

void CheckpointWriter::write(const void* data, Index bytes) {
  if (bytes == 0) return;  // a checksum without an address would begin anew
  file_->write(at_, data, bytes);
  checksum_ = checksum(data, bytes, checksum_);
  at_ += bytes;
}

void CheckpointWriter::begin(const std::string& part, Index bytes) {
  const std::string head = head_of(part, bytes);
  write(head.data(), head.size());
}

void CheckpointWriter::pass(void* data, Index bytes) { write(data, bytes); }

void CheckpointWriter::finish() {
  const std::uint32_t all = checksum_;
  write(&all, checksum_bytes);
  output_.publish({{name_, name_}}, "");
  file_.reset();
}

CheckpointReader::CheckpointReader(const std::filesystem::path& path)
    : file_(std::make_unique<PlainFile>(opened(path))) {
  verify();
  at_ = first_line.size();
}

CheckpointReader::~CheckpointReader() = default;

const std::string& CheckpointReader::name() const { return file_->name(); }

void CheckpointReader::verify() {
  std::string begins(first_line.size(), '\0');
  require<FileError>(file_->read(0, begins.data(), begins.size()) && begins == first_line, name(),
                     ": is no check-point of tandem; give another name for " + spelled("checkpoint"));
  constexpr Index most = 1 << 24;
  std::vector<char> some(most);
  const Index all = file_->size() - checksum_bytes;
  std::uint32_t sum = 0, said = 0;
  for (Index at = 0; at < all; at += most) {
    const std::size_t bytes = std::min(most, all - at);
    require<FileError>(file_->read(at, some.data(), bytes), name(), ": has become shorter while it was read");
    sum = checksum(some.data(), bytes, sum);
  }
  require<FileError>(all > 0 && file_->read(all, &said, checksum_bytes) && said == sum, name(),
                     ": the check-point is damaged; remove it to go on without it");
}

void CheckpointReader::begin(const std::string& part, Index bytes) {
  const std::string head = head_of(part, bytes);
  std::string there(head.size(), '\0');
  require<FileError>(file_->read(at_, there.data(), there.size()) && there == head, name(), ": has no ", part,
                     " of ", bytes, " bytes where it should be; remove it to go on without it");
  at_ += head.size();
}

void CheckpointReader::pass(void* data, Index bytes) {
  require<FileError>(file_->read(at_, data, bytes), name(), ": ends too early");
  at_ += bytes;
}

void CheckpointReader::require_room(const std::string& part, Index count, Index bytes) const {
  require<FileError>(0 <= count && count <= (file_->size() - at_) / bytes, name(), ": claims ", count, " of ",
                     part, ", which it is too short for; remove it to go on without it");
}

void pass(CheckpointFile& file, const std::string& part, std::string& text) {
  Index bytes = text.size();
  file.begin("size of " + part, sizeof bytes);
  file.pass(&bytes, sizeof bytes);
  file.require_room(part, bytes, 1);
  text.resize(bytes);
  file.begin(part, bytes);
  file.pass(text.data(), bytes);
}

}  // namespace tandem::io
