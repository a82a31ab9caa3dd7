#include "../../../io/files/plain_file.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>
#include <filesystem>
#include <numeric>
#include <vector>

#include "../../../io/files/output.hpp"

namespace tandem {
namespace {

namespace fs = std::filesystem;

/// Writing at random places, also through the pages of a file in memory, leaves what a plain vector holds.
void writes_what_comes(const fs::path& folder) {
  io::Output output(folder / "some.bin", io::Content::volume, io::Replace::any);
  io::PlainFile file = output.create("some.bin");
  const Index length = *rc::gen::inRange<Index>(0, 5 << 20);
  std::vector<std::byte> expected(static_cast<std::size_t>(length));
  if (length > 0) file.write(length - 1, expected.data(), 1);  // as long as what comes, or not
  const auto writes = *rc::gen::inRange(1, 6);
  for (int k = 0; k < writes; ++k) {
    const Index offset = *rc::gen::inRange<Index>(0, 3 << 20), bytes = *rc::gen::inRange<Index>(0, 3 << 20);
    std::vector<unsigned char> data(static_cast<std::size_t>(bytes));
    std::iota(data.begin(), data.end(), static_cast<unsigned char>(17 * k + 1));
    file.write(offset, data.data(), data.size());
    if (bytes > 0 && offset + bytes > static_cast<Index>(expected.size()))
      expected.resize(static_cast<std::size_t>(offset + bytes));
    if (bytes > 0) std::memcpy(expected.data() + offset, data.data(), data.size());
  }
  RC_ASSERT(file.size() == static_cast<Index>(expected.size()));
  std::vector<std::byte> found(expected.size());
  RC_ASSERT(file.read(0, found.data(), found.size()));
  RC_ASSERT(found == expected);
}

RC_GTEST_PROP(PlainFile, HoldsWhatIsWritten, ()) { writes_what_comes(fs::temp_directory_path()); }

RC_GTEST_PROP(PlainFile, HoldsWhatIsWrittenToARamDisk, ()) {
  if (!fs::exists("/dev/shm")) return;
  writes_what_comes("/dev/shm");
}

}  // namespace
}  // namespace tandem
