// Volumes beside their truth: a table of PSNR, SSIM and error, a picture of the middle slices on one grey
// scale, and the table as JSON. `make demo` runs it.
//
// usage: compare_volumes PICTURE.png TABLE.json TRUTH.h5 VOLUME.h5...
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "../core/error.hpp"
#include "../io/png.hpp"
#include "../io/volumes/volume_file.hpp"
#include "../pipeline/watch/quality.hpp"

using namespace tandem;

namespace {

Array read(const std::filesystem::path& path) {
  io::VolumeReader reader(path);
  Array volume{Space(reader.shape())};
  reader.read({0, reader.shape()[0]}, volume.data());
  return volume;
}

io::Picture middle_slice(const Array& volume) {
  const auto [slices, height, width] = volume.space().shape();
  const float* first = volume.data() + slices / 2 * height * width;
  return {width, height, {first, first + height * width}};
}

void compare(const std::filesystem::path& picture, const std::filesystem::path& table, const Array& truth,
             std::span<char*> volumes) {
  const std::span all(truth.data(), static_cast<std::size_t>(truth.size()));
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  std::vector<io::Picture> pictures{middle_slice(truth)};
  nlohmann::ordered_json rows;
  std::printf("%-12s %9s %7s %9s\n", "volume", "PSNR (dB)", "SSIM", "RMSE");
  for (const std::filesystem::path path : volumes) {
    const Array volume = read(path);
    require<SpaceError>(volume.space() == truth.space(), path.string(), ": not of the shape of the truth");
    const auto q =
        pipeline::compare({volume.data(), all.size()}, all, volume.space().shape(), *most - *least);
    std::printf("%-12s %9.2f %7.3f %9.5f\n", path.stem().c_str(), q.psnr, q.ssim, q.rmse);
    rows[path.stem()] = {{"psnr_db", q.psnr}, {"ssim", q.ssim}, {"rmse", q.rmse}};
    pictures.push_back(middle_slice(volume));
  }
  std::ofstream(table) << rows.dump(2) << '\n';
  io::write_png({picture, io::Content::picture}, pictures, 0, 0.5f * *most);  // the upper half is bone alone
}

}  // namespace

int main(int argc, char** argv) {
  try {
    require<Error>(argc >= 5, "usage: compare_volumes PICTURE.png TABLE.json TRUTH.h5 VOLUME.h5...");
    compare(argv[1], argv[2], read(argv[3]), {argv + 4, argv + argc});
  } catch (const std::exception& e) {
    return std::cerr << "compare_volumes: " << e.what() << '\n', 1;
  }
}
