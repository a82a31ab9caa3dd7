// Volumes of the head phantom beside their truth: a table of PSNR, SSIM and error, also as JSON, and a
// picture of the middle slices on one grey scale, with the three small ellipses larger. `make demo` runs it.
//
// usage: compare_volumes PICTURE.png TABLE.json TRUTH.h5 VOLUME.h5...
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
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

/// The part of a picture with the three small ellipses, as wide as the picture. There it gets a frame.
io::Picture inset(io::Picture& from) {
  constexpr Index larger = 4;
  const Index width = from.width / larger, height = width / 2;
  const Index left = (from.width - width) / 2, top = from.height * 17 / 128;
  const auto at = [&](Index y, Index x) { return from.grey.begin() + (top + y) * from.width + left + x; };
  io::Picture part{larger * width, larger * height, {}};
  for (Index y = 0; y < part.height; ++y)
    for (Index x = 0; x < part.width; ++x) part.grey.push_back(*at(y / larger, x / larger));
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      if (std::min({y, x, height - 1 - y, width - 1 - x}) == 0) *at(y, x) = INFINITY;
  return part;
}

void compare(const std::filesystem::path& picture, const std::filesystem::path& table, const Array& truth,
             std::span<char*> volumes) {
  const std::span all(truth.data(), truth.size());
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  std::vector<io::Picture> pictures{middle_slice(truth)}, insets{inset(pictures.front())};
  insets.front().captions = {"truth"};
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
    insets.push_back(inset(pictures.back()));
    std::array<char, 32> psnr{};
    std::snprintf(psnr.data(), psnr.size(), "%.1f dB", q.psnr);
    insets.back().captions = {path.stem(), psnr.data()};
  }
  const std::size_t columns = pictures.size();
  std::ranges::move(insets, std::back_inserter(pictures));
  std::ofstream(table) << rows.dump(2) << '\n';
  io::write_png(
      {picture, io::Content::picture}, pictures,
      {.white = 0.5f * *most,  // above it is bone alone
       .columns = columns,
       .pixel = 1,
       .unit = "bin",
       .captions = {"The insets have three small ellipses. Total variation (tv) has the least error,",
                    "and melts the ellipses together, which the others show in grain."}});
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
