#include "tandem/io/part_file.hpp"

#include <utility>

#include "tandem/core/error.hpp"

namespace tandem::io {

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const fs::path& target) { return target.has_parent_path() ? target.parent_path() : "."; }

}  // namespace

PartFile::PartFile(fs::path target) : target_(std::move(target)), part_(target_) {
  std::error_code fault;
  require<FileError>(fs::is_directory(folder_of(target_), fault), target_.string(), ": the folder ",
                     folder_of(target_).string(), " does not exist; make it first");
  require<FileError>(!fs::is_directory(target_, fault), target_.string(),
                     ": is a folder; a file name is needed");
  part_ += ".part";
}

PartFile::PartFile(PartFile&& other) noexcept
    : target_(std::move(other.target_)), part_(std::exchange(other.part_, {})) {}

PartFile::~PartFile() {
  std::error_code unheeded;
  if (!part_.empty()) fs::remove(part_, unheeded);
}

void PartFile::finish() {
  std::error_code fault;
  fs::rename(part_, target_, fault);
  require<FileError>(!fault, target_.string(), ": cannot be given its name: ", fault.message());
  part_.clear();
}

}  // namespace tandem::io
