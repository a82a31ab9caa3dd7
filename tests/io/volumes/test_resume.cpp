// The files that a killed run leaves, and how another run goes on with them.

#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "../../../io/files/checksum.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Compression;
using io::VoxelType;

namespace {

constexpr Shape shape{6, 7, 5};
constexpr Index area = shape[1] * shape[2];
const io::Identity identity{{"the scan", "12 bytes"}, {"--fbp-filter", "hann"}};

struct Kind {
  const char* name;
  io::VolumeFormat format;
};
const std::vector<Kind> kinds{{"v.h5", {}},
                              {"v.h5", {.type = VoxelType::uint16, .min = -1, .max = 1}},
                              {"v.h5", {.compression = Compression::zstd}},
                              {"v.h5", {.type = VoxelType::float16, .compression = Compression::blosc}},
                              {"v.btf", {}},
                              {"v.btf", {.type = VoxelType::uint16, .min = -1, .max = 1}},
                              {"v.tif", {}},
                              {"v.tif", {.type = VoxelType::float16}}};

std::vector<float> voxels() {
  std::vector<float> data(static_cast<std::size_t>(shape[0] * area));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i));
  return data;
}

std::vector<float> read_all(const fs::path& path) {
  io::VolumeReader reader(path);
  reader.require_complete();
  std::vector<float> data(static_cast<std::size_t>(shape[0] * area));
  reader.read({0, shape[0]}, data.data());
  return data;
}

std::unique_ptr<io::VolumeWriter> writer_of(const fs::path& path, const Kind& kind, bool resume,
                                            const io::Identity& same = identity) {
  return io::create_volume(path, shape, kind.format, "{\"recipe\":1}", io::Replace::own,
                           {.wanted = resume, .identity = same});
}

std::vector<float> whole(const TemporaryFolder& folder, const Kind& kind) {
  fs::create_directory(folder / "whole");
  const auto writer = writer_of(folder / "whole" / kind.name, kind, false);
  writer->write({0, shape[0]}, voxels().data());
  writer->finish("{}");
  return read_all(folder / "whole" / kind.name);
}

fs::path left_in(const TemporaryFolder& folder, const Kind& kind) {
  const std::string name = kind.name;
  return folder / ("." + name + (name == "v.tif" ? ".manifest" : "") + ".tandem");
}

fs::path journal_in(const fs::path& left) {
  for (const auto& entry : fs::directory_iterator(left))
    if (entry.path().extension() == ".journal") return entry.path();
  return {};
}

std::vector<std::string> lines_of(const fs::path& path, const std::string& start) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(start)) lines.push_back(line);
  return lines;
}

/// Puts slices 0, 1 and 3 into a folder as a killed run leaves it: a copy of one that is alive.
void leave_some(const TemporaryFolder& folder, const Kind& kind) {
  const fs::path left = left_in(folder, kind), copy = folder / "copy";
  {
    const auto writer = writer_of(folder / kind.name, kind, false);
    const std::vector<float> data = voxels();
    writer->write({3, 4}, data.data() + 3 * area);
    writer->write({0, 2}, data.data());
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (lines_of(journal_in(left), "done:").size() < 3 && std::chrono::steady_clock::now() < until)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    ASSERT_EQ(lines_of(journal_in(left), "done:").size(), 3u);
    fs::copy(left, copy);
  }
  ASSERT_FALSE(fs::exists(left));  // a run that ends by an error leaves nothing
  fs::rename(copy, left);
}

void change_byte(const fs::path& path, Index at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at).put(static_cast<char>(byte ^ 0x10));
}

bool same(const std::vector<Range>& a, const std::vector<Range>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Range x, Range y) { return x.first == y.first && x.last == y.last; });
}

}  // namespace

TEST(Resume, GivesTheBitsOfOneRun) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    const std::vector<float> expected = whole(folder, kind);
    leave_some(folder, kind);
    auto writer = writer_of(folder / kind.name, kind, true);
    EXPECT_TRUE(same(writer->done(), {{0, 2}, {3, 4}})) << kind.name;
    std::vector<float> slice(area);
    writer->read_done(3, slice.data());
    EXPECT_TRUE(std::equal(slice.begin(), slice.end(), expected.begin() + 3 * area));
    std::vector<float> data = voxels();
    std::fill_n(data.begin() + 3 * area, area, 0.5f);  // done already: not taken
    writer->write({4, 6}, data.data() + 4 * area);
    writer->write({2, 4}, data.data() + 2 * area);
    writer->finish("{}");
    writer.reset();
    EXPECT_EQ(read_all(folder / kind.name), expected) << kind.name;
    EXPECT_FALSE(fs::exists(left_in(folder, kind)));
  }
}

TEST(Resume, TakesOnlyWhatIsAsItWasWritten) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    leave_some(folder, kind);
    const fs::path left = left_in(folder, kind);
    const std::string name = kind.name;
    if (name == "v.tif") {
      change_byte(left / "v_00001.tif", 20);
    } else if (kind.format.compression == Compression::none) {
      if (kind.format.type != VoxelType::float32) continue;
      const float second = voxels()[area];
      std::ifstream file(left / name, std::ios::binary);
      const std::string all{std::istreambuf_iterator<char>(file), {}};
      const std::size_t at = all.find(std::string(reinterpret_cast<const char*>(&second), 4));
      ASSERT_NE(at, std::string::npos);
      change_byte(left / name, static_cast<Index>(at) + 1);
    } else {
      for (const std::string& line : lines_of(journal_in(left), "done: 1 ")) {
        std::istringstream words(line);
        std::string key;
        Index slice = 0, sum = 0, offset = 0;
        words >> key >> slice >> sum >> offset;
        change_byte(left / name, offset + 25);
      }
    }
    const auto writer = writer_of(folder / kind.name, kind, true);
    EXPECT_TRUE(same(writer->done(), {{0, 1}, {3, 4}})) << kind.name;
  }
}

TEST(Resume, CountsAJournalAsFarAsItIsWhole) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    leave_some(folder, kind);
    const fs::path journal = journal_in(left_in(folder, kind));
    fs::resize_file(journal, fs::file_size(journal) - 3);
    Index count = 0;
    for (const Range some : writer_of(folder / kind.name, kind, true)->done()) count += some.size();
    EXPECT_EQ(count, 2) << kind.name;
  }
}

TEST(Resume, GoesOnTwice) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    const std::vector<float> expected = whole(folder, kind);
    leave_some(folder, kind);
    {
      const auto writer = writer_of(folder / kind.name, kind, true);
      writer->write({5, 6}, voxels().data() + 5 * area);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
    }  // an error: what is done stays, because somebody wants to go on
    const auto writer = writer_of(folder / kind.name, kind, true);
    EXPECT_TRUE(same(writer->done(), {{0, 2}, {3, 4}, {5, 6}})) << kind.name;
    writer->write({0, 6}, voxels().data());
    writer->finish("{}");
    EXPECT_EQ(read_all(folder / kind.name), expected) << kind.name;
  }
}

/// Another program writes the target while the run is at work. The volume is not lost.
TEST(Resume, GivesTheNameOfAFileThatCameMeanwhile) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    const std::vector<float> expected = whole(folder, kind);
    const fs::path target = kind.name == std::string("v.tif") ? folder / "v_00003.tif" : folder / kind.name;
    {
      const auto writer = writer_of(folder / kind.name, kind, false);
      writer->write({0, 6}, voxels().data());
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      std::ofstream(target) << "precious";
      EXPECT_TRUE(says(refusal([&] { writer->finish("{}"); }), {"--overwrite", "--resume"})) << kind.name;
    }
    std::ifstream file(target);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "precious") << kind.name;
    fs::remove(target);
    const auto writer = writer_of(folder / kind.name, kind, true);
    EXPECT_TRUE(same(writer->done(), {{0, 6}})) << kind.name;
    writer->finish("{}");
    EXPECT_EQ(read_all(folder / kind.name), expected) << kind.name;
  }
}

TEST(Resume, IsRefusedOntoAnotherRecipe) {
  for (const Kind& kind : {kinds.front(), kinds.back()}) {
    const TemporaryFolder folder;
    leave_some(folder, kind);
    const auto refused = [&](const io::Identity& other) {
      return refusal([&] { writer_of(folder / kind.name, kind, true, other); });
    };
    EXPECT_TRUE(says(refused({{"the scan", "12 bytes"}, {"--fbp-filter", "ramp"}}),
                     {"--resume: --fbp-filter is ramp, and was hann"}));
    EXPECT_TRUE(says(refused({{"the scan", "12 bytes"}}), {"--fbp-filter is not given, and was hann"}));
    EXPECT_TRUE(says(refused({{"the scan", "13 bytes"}, {"--fbp-filter", "hann"}, {"--nonnegative", "true"}}),
                     {"the scan is 13 bytes, and was 12 bytes"}));
    EXPECT_TRUE(
        same(writer_of(folder / kind.name, kind, true)->done(), {{0, 2}, {3, 4}}));  // nothing is lost
    EXPECT_TRUE(writer_of(folder / kind.name, kind, false)->done().empty());
    EXPECT_TRUE(writer_of(folder / kind.name, kind, true)->done().empty());  // the other one cleared it
  }
}

namespace {

/// A line of a journal as an enemy writes it, with its checksum.
std::string forged(const std::string& text) {
  std::ostringstream line;
  line << text << ' ' << std::hex << io::checksum(text.data(), text.size()) << '\n';
  return line.str();
}

/// The journal with lines that begin so exchanged.
void forge(const fs::path& journal, const std::string& start, const std::string& text) {
  std::ifstream file(journal);
  std::string all;
  for (std::string line; std::getline(file, line);)
    all += line.starts_with(start) ? forged(text) : line + '\n';
  file.close();
  std::ofstream(journal) << all;
}

std::string bytes_in(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST(Resume, WritesToNoFileThatAJournalNames) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    const std::vector<float> expected = whole(folder, kind);
    const fs::path victim = folder / "victim.h5";
    fs::copy_file(folder / "whole" / (std::string(kind.name) == "v.tif" ? "v_00000.tif" : kind.name), victim);
    const std::string before = bytes_in(victim);
    for (const std::string& name : {std::string("../victim.h5"), victim.string()}) {
      leave_some(folder, kind);
      forge(journal_in(left_in(folder, kind)), "file: ", "file: " + name);
      const auto writer = writer_of(folder / kind.name, kind, true);
      writer->write({0, shape[0]}, voxels().data());
      writer->finish("{}");
      EXPECT_EQ(bytes_in(victim), before) << kind.name;
      EXPECT_EQ(read_all(folder / kind.name), expected) << kind.name;
    }
  }
}

TEST(Resume, CountsAJournalAsFarAsItMakesSense) {
  for (const std::string line : {"done: 3 1 -5 4", "done: 3 1 5 -4", "done: 3 1 5 9223372036854775807",
                                 "done: 99999999 1 1 1", "done: -3 1 1 1", "done: x"}) {
    for (const Kind& kind : kinds) {
      const TemporaryFolder folder;
      leave_some(folder, kind);
      forge(journal_in(left_in(folder, kind)), "done: 3 ", line);
      const auto writer = writer_of(folder / kind.name, kind, true);
      for (const Range some : writer->done()) EXPECT_LE(some.last, 3) << kind.name << line;
      writer->write({0, shape[0]}, voxels().data());
      writer->finish("{}");
    }
  }
}

TEST(Resume, ReadsNoJournalWithoutEnd) {
  const TemporaryFolder folder;
  leave_some(folder, kinds.front());
  fs::resize_file(journal_in(left_in(folder, kinds.front())), std::uintmax_t{20} << 30);  // a sparse one
  EXPECT_TRUE(writer_of(folder / "v.h5", kinds.front(), true)->done().empty());
}

/// The file that a run left under the name may be another one by now, of another shape.
TEST(Resume, MakesAFileOfAnotherShapeAnew) {
  const TemporaryFolder folder;
  const Kind& kind = kinds.front();
  const std::vector<float> expected = whole(folder, kind);
  leave_some(folder, kind);
  const auto other = io::create_volume(folder / "other.h5", {1, 2, 2}, {}, "{}");
  const std::vector<float> few(4);
  other->write({0, 1}, few.data());
  other->finish("{}");
  fs::copy_file(folder / "other.h5", left_in(folder, kind) / "v.h5", fs::copy_options::overwrite_existing);
  const auto writer = writer_of(folder / "v.h5", kind, true);
  writer->write({0, shape[0]}, voxels().data());
  writer->finish("{}");
  EXPECT_EQ(read_all(folder / "v.h5"), expected);
}

/// A job that is started again on another machine: only --resume takes what is there.
TEST(Resume, GoesOnOnAnotherMachineIfItIsAskedTo) {
  for (const Kind& kind : kinds) {
    const TemporaryFolder folder;
    leave_some(folder, kind);
    const fs::path left = left_in(folder, kind);
    std::ofstream(left / "lock") << "tandem: process 7 on elsewhere\nanother-boot\n1234";
    EXPECT_TRUE(
        says(refusal([&] { writer_of(folder / kind.name, kind, false); }), {"a run of another machine"}));
    EXPECT_FALSE(journal_in(left).empty()) << kind.name;
    EXPECT_TRUE(same(writer_of(folder / kind.name, kind, true)->done(), {{0, 2}, {3, 4}})) << kind.name;
  }
}

TEST(Resume, FindsWhatOtherOutputsLeftAlone) {
  const TemporaryFolder folder;
  leave_some(folder, kinds.front());
  io::Output(folder / "other.json", io::Content::report).write("{}");
  EXPECT_TRUE(same(writer_of(folder / "v.h5", kinds.front(), true)->done(), {{0, 2}, {3, 4}}));
}

}  // namespace tandem::test
