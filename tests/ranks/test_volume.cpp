// One volume, written by several ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include "../../core/comm.hpp"
#include "../../core/error.hpp"
#include "../../io/files/output.hpp"
#include "../../io/volumes/volume_file.hpp"
#include "../support/temporary_folder.hpp"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;
using io::VoxelType;

constexpr Shape shape{11, 7, 5};
constexpr Index area = shape[1] * shape[2];

Comm all() { return Comm::world(); }

/// A folder of the first rank, for all.
class SharedFolder {
 public:
  SharedFolder() {
    if (all().is_first()) own_.emplace();
    path_ = all().broadcast(own_ ? own_->path().string() : "");
  }
  ~SharedFolder() { all().barrier(); }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::optional<TemporaryFolder> own_;
  fs::path path_;
};

std::vector<float> voxels() {
  std::vector<float> data(static_cast<std::size_t>(shape[0] * area));
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = 1.3F * std::sin(static_cast<float>(i));
  return data;
}

struct Kind {
  const char* name;
  io::VolumeFormat format;
};
const std::vector<Kind> kinds{{"v.h5", {}},
                              {"v.h5", {.type = VoxelType::uint16, .min = -1, .max = 1}},
                              {"v.btf", {}},
                              {"v.nrrd", {}},
                              {"v.mha", {.type = VoxelType::uint8, .min = -1, .max = 1}},
                              {"v.tif", {.type = VoxelType::float16}},
                              {"v.zarr", {}},
                              {"v.zarr", {.compression = io::Compression::zstd}},
                              {"v.zarr", {.zarr = 3, .shard_bytes = 3 * area * 4}}};

std::unique_ptr<io::VolumeWriter> writer_of(const fs::path& path, const Kind& kind, Comm ranks,
                                            bool resume = false) {
  return io::create_volume(path, shape, kind.format, "{}", io::Replace::own,
                           {.wanted = resume, .identity = {{"the scan", "12 bytes"}}, .ranks = ranks});
}

void write(io::VolumeWriter& writer, Index slice) {
  writer.write({slice, slice + 1}, voxels().data() + slice * area);
}

/// The last rank has nothing to do if there are more than two.
bool is_mine(Index slice) {
  const int workers = all().size() > 2 ? all().size() - 1 : all().size();
  return slice % workers == all().rank();
}

/// The bytes of a file, or of all files in a folder, by their names.
std::map<std::string, std::string> bytes_of(const fs::path& path) {
  std::map<std::string, std::string> files;
  const auto read = [&](const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    files[fs::relative(file, path).string()] = {std::istreambuf_iterator<char>(stream), {}};
  };
  if (!fs::is_directory(path)) read(path);
  if (fs::is_directory(path))
    for (const auto& entry : fs::recursive_directory_iterator(path))
      if (entry.is_regular_file()) read(entry.path());
  return files;
}

std::vector<float> read(const fs::path& path) {
  io::VolumeReader reader(path);
  reader.require_complete();
  std::vector<float> data(static_cast<std::size_t>(shape[0] * area));
  reader.read({0, shape[0]}, data.data());
  return data;
}

void expect_as_of_one_process(const SharedFolder& folder, const Kind& kind, io::Clipped clipped) {
  fs::create_directory(folder / "alone");
  const fs::path path = folder / "alone" / kind.name;
  auto writer = writer_of(path, kind, Comm());
  writer->write({0, shape[0]}, voxels().data());
  EXPECT_EQ(clipped.below, writer->clipped().below);
  EXPECT_EQ(clipped.above, writer->clipped().above);
  writer->finish("{}");
  writer.reset();
  const std::string name = kind.name;
  if (name == "v.h5" || name == "v.btf" || name == "v.tif")
    EXPECT_EQ(read(folder / name), read(path)) << name;
  else
    EXPECT_TRUE(bytes_of(folder / name) == bytes_of(path)) << name;
}

TEST(VolumeOfRanks, IsThatOfOneProcess) {
  for (const Kind& kind : kinds) {
    const SharedFolder folder;
    auto writer = writer_of(folder / kind.name, kind, all());
    for (Index slice = 0; slice < shape[0]; ++slice)
      if (is_mine(slice)) write(*writer, slice);
    writer->collect();
    if (!all().is_first()) continue;
    std::vector<float> back(static_cast<std::size_t>(area));
    writer->read_done(1, back.data());  // a slice of another rank
    EXPECT_NEAR(back[3], std::clamp(voxels()[area + 3], -1.F, 1.F), 0.01);
    writer->finish("{}");
    const io::Clipped clipped = writer->clipped();
    writer.reset();
    EXPECT_FALSE(fs::exists(folder / (std::string(".") + kind.name + ".tandem")));
    expect_as_of_one_process(folder, kind, clipped);
  }
}

TEST(VolumeOfRanks, GoesOnFromTheJournalsOfAll) {
  for (const Kind& kind : {kinds[0], kinds[2], kinds[5], kinds[7]}) {
    const SharedFolder folder;
    {
      const auto writer = writer_of(folder / kind.name, kind, all(), true);
      const auto rank = static_cast<Index>(all().rank());
      write(*writer, rank);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));  // until it is in the journal
      all().barrier();
    }
    all().barrier();
    auto writer = writer_of(folder / kind.name, kind, all(), true);
    const std::vector<Range> done = writer->done();
    ASSERT_EQ(done.size(), 1u) << kind.name;
    EXPECT_EQ(done[0].first, 0);
    EXPECT_EQ(done[0].last, all().size());
    for (Index slice = all().size(); slice < shape[0]; ++slice)
      if (is_mine(slice)) write(*writer, slice);
    writer->collect();
    if (!all().is_first()) continue;
    writer->finish("{}");
    const io::Clipped clipped = writer->clipped();
    writer.reset();
    EXPECT_FALSE(fs::exists(folder / (std::string(".") + kind.name + ".tandem")));
    expect_as_of_one_process(folder, kind, clipped);
  }
}

TEST(VolumeOfRanks, LeavesNothingIfItIsNotFinished) {
  const SharedFolder folder;
  {
    const auto writer = writer_of(folder / "v.h5", kinds[0], all());
    write(*writer, all().rank());
  }
  all().barrier();
  if (!all().is_first()) return;
  io::clear_shared_outputs();
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

TEST(VolumeOfRanks, RefusesAFolderThatIsNotTheOne) {
  const TemporaryFolder one, other;
  io::Output first(one / "v.h5", io::Content::volume), second(other / "v.h5", io::Content::volume);
  const std::string mark = first.share();
  const io::Output joined = io::Output::join(one / "v.h5", mark);
  EXPECT_EQ(joined.name(), "v.h5");
  EXPECT_THROW(io::Output::join(other / "v.h5", mark), FileError);
}

TEST(VolumeOfRanks, RefusesPackedHdf5) {
  if (all().is_alone()) GTEST_SKIP();
  const SharedFolder folder;
  EXPECT_THROW(writer_of(folder / "v.h5", {"", {.compression = io::Compression::zstd}}, all()), FileError);
}

}  // namespace
}  // namespace tandem::test
