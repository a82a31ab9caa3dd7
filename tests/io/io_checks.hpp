#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "../../core/error.hpp"
#include "../../io/scans/scan_reader.hpp"
#include "../support/temporary_folder.hpp"
#include "sample_files.hpp"

namespace tandem::test {

/// The text of an error, a FileError by default; fails the test if none comes, or if it is not one line.
template <class Fault = FileError>
std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const Fault& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  ADD_FAILURE() << "no such error";
  return "";
}

inline std::string refusal_of(const fs::path& path, const io::OpenOptions& options = {}) {
  return refusal([&] { io::open_scan(path, options); });
}

/// How many files and folders there are.
inline std::size_t files_in(const TemporaryFolder& folder) {
  return std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator());
}

/// The notes of a scan, a line each.
inline std::string notes_of(const io::ScanInfo& info) {
  std::string all;
  for (const std::string& note : info.notes) all += note + "\n";
  return all;
}

/// Whether `text` has all of `parts`, in their order.
inline ::testing::AssertionResult says(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t from = 0;
  for (const std::string& part : parts) {
    from = text.find(part, from);
    if (from == std::string::npos)
      return ::testing::AssertionFailure() << "\"" << text << "\" lacks \"" << part << "\"";
    from += part.size();
  }
  return ::testing::AssertionSuccess();
}

inline std::vector<double> values(const io::Frames& frames) {
  const Index count = frames.shape[0] * frames.shape[1] * frames.shape[2];
  std::vector<double> all;
  const auto get = [&](auto sample, std::size_t i) {
    std::memcpy(&sample, frames.bytes.data() + i * sizeof sample, sizeof sample);
    all.push_back(static_cast<double>(sample));
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) switch (frames.type) {
      case io::PixelType::uint8:
        get(std::uint8_t{}, i);
        break;
      case io::PixelType::uint16:
        get(std::uint16_t{}, i);
        break;
      case io::PixelType::uint32:
        get(std::uint32_t{}, i);
        break;
      case io::PixelType::float32:
        get(float{}, i);
        break;
    }
  return all;
}

inline std::vector<double> all_of(io::ScanReader& reader, io::FrameKind kind) {
  const io::ScanInfo& info = reader.info();
  const Index count = kind == io::FrameKind::flat   ? info.flats
                      : kind == io::FrameKind::dark ? info.darks
                                                    : views_of(info.scan);
  return values(
      reader.read(kind, {0, count}, {0, detector_of(info.scan).rows}, {0, detector_of(info.scan).bins}));
}

}  // namespace tandem::test
