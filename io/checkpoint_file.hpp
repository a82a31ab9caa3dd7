#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "../core/space.hpp"
#include "files/output.hpp"

namespace tandem::io {

/// The parts of a check-point, one after the other. Each part has a name and a number of bytes. Writer and
/// reader have the same functions, so that one list of parts serves for both.
class CheckpointFile {
 public:
  virtual ~CheckpointFile() = default;
  virtual bool reads() const = 0;
  virtual void begin(const std::string& part, Index bytes) = 0;  ///< @throws FileError
  virtual void pass(void* data, Index bytes) = 0;  ///< passes the next bytes of the part. @throws FileError
  /// Called before memory is taken for `count` things that each have at least `bytes` bytes in the file.
  /// @throws FileError if a file that is read is too short for them
  virtual void require_room(const std::string& /*part*/, Index /*count*/, Index /*bytes*/) const {}
};

/// Writes a check-point. At `finish` it gets its name, and replaces an older one, so that there is always a
/// whole one. A check-point that is not finished is removed.
class CheckpointWriter final : public CheckpointFile {
 public:
  /// The file lies beside the target of `output` and is called `name`. @throws FileError if the disk has no
  /// room for this many bytes
  CheckpointWriter(Output& output, std::string name, Index bytes);
  ~CheckpointWriter() override;
  bool reads() const override { return false; }
  void begin(const std::string& part, Index bytes) override;
  void pass(void* data, Index bytes) override;
  void finish();  ///< @throws FileError

 private:
  void write(const void* data, Index bytes);

  Output& output_;
  std::string name_;
  std::unique_ptr<class PlainFile> file_;
  Index at_ = 0;
  std::uint32_t checksum_ = 0;
};

/// Reads a check-point. It keeps the file open, so that another one may take its name.
class CheckpointReader final : public CheckpointFile {
 public:
  /// @throws FileError if the file cannot be read, is no check-point, or has a wrong checksum
  explicit CheckpointReader(const std::filesystem::path& path);
  ~CheckpointReader() override;
  bool reads() const override { return true; }
  /// @throws FileError unless this is the next part
  void begin(const std::string& part, Index bytes) override;
  void pass(void* data, Index bytes) override;
  void require_room(const std::string& part, Index count, Index bytes) const override;
  const std::string& name() const;

 private:
  void verify();

  std::unique_ptr<class PlainFile> file_;
  Index at_ = 0;
};

/// Passes a text of any length.
void pass(CheckpointFile& file, const std::string& part, std::string& text);

}  // namespace tandem::io
