// Volumes of packed slices, and of many slices.

#include <hdf5.h>

#include <array>
#include <ctime>
#include <fstream>

#include "../../../io/hdf5/hdf5.hpp"
#include "../../../io/volumes/volume_file.hpp"
#include "../io_checks.hpp"

namespace tandem::test {

using io::Compression;
using io::VolumeReader;

namespace {

/// Where a slice that is packed alone lies in its file.
Index offset_of_slice(const fs::path& path, hsize_t slice) {
  const io::hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const io::hdf5::Handle set(H5Dopen2(file.id(), "/exchange/data", H5P_DEFAULT), H5Dclose);
  const std::array<hsize_t, 3> corner{slice, 0, 0};
  unsigned filters = 0;
  haddr_t offset = 0;
  hsize_t bytes = 0;
  EXPECT_GE(H5Dget_chunk_info_by_coord(set.id(), corner.data(), &filters, &offset, &bytes), 0);
  return static_cast<Index>(offset);
}

}  // namespace

TEST(Volume, NamesAPackedSliceThatIsDamaged) {
  for (const Compression compression : {Compression::zstd, Compression::blosc}) {
    const TemporaryFolder folder;
    const Shape n{3, 64, 64};
    const std::vector<float> data(3 * 64 * 64, 1.5f);
    const auto writer = io::create_volume(folder / "v.h5", n, {.compression = compression}, "{}");
    writer->write({0, 3}, data.data());
    writer->finish("{}");
    const Index second = offset_of_slice(folder / "v.h5", 1);
    for (const Index at : {0, 5, 20}) {
      std::fstream file(folder / "v.h5", std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(second + at);
      file.put('\x5a');
      file.close();
      std::vector<float> voxels(64 * 64);
      VolumeReader reader(folder / "v.h5");
      reader.read({0, 1}, voxels.data());
      EXPECT_TRUE(says(refusal([&] {
                         reader.read({1, 2}, voxels.data());
                       }),
                       {"v.h5: /exchange/data", "damaged"}));
    }
  }
}

/// Four times the slices take four times the time of the processor, packed or not.
TEST(Volume, TakesATimeThatGrowsAsItsSlices) {
  const TemporaryFolder folder;
  const auto seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const auto seconds_of = [&](Index slices, Compression compression) {
    const std::vector<float> data(static_cast<std::size_t>(slices * 4), 1.5f);
    const double begin = seconds();
    const auto writer =
        io::create_volume(folder / "v.h5", {slices, 2, 2}, {.compression = compression}, "{}");
    writer->write({0, slices}, data.data());
    writer->finish("{}");
    VolumeReader reader(folder / "v.h5");
    std::vector<float> voxels(data.size());
    reader.read({0, slices}, voxels.data());
    EXPECT_EQ(voxels, data);
    return seconds() - begin;
  };
  for (const Compression compression : {Compression::none, Compression::zstd}) {
    seconds_of(1000, compression);  // what is done once
    EXPECT_LT(seconds_of(32'000, compression), 8 * seconds_of(8'000, compression));
  }
}

}  // namespace tandem::test
