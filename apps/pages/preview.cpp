#include "preview.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>

#include "../../core/rounding.hpp"

namespace tandem::apps {

namespace {

/// A window in words, rounded to a hundredth of the leading digit of the width.
std::string words_of_window(GreyWindow window) {
  const double step = std::pow(10, std::floor(std::log10(window.white - window.black)) - 2);
  const auto rounded = [&](float value) { return step * std::round(value / step) + 0.0; };  // without -0
  std::ostringstream text;
  text << "black " << rounded(window.black) << ", white " << rounded(window.white);
  return text.str();
}

}  // namespace

GreyWindow window_of(std::vector<float> values) {
  const auto at = [&](double share) {
    const auto k = floor_index(share * (values.size() - 1));
    std::nth_element(values.begin(), values.begin() + k, values.end());
    return values[k];
  };
  const float low = at(0.005), high = at(0.995);
  return {low, high > low ? high : low + 1};
}

GreyWindow joint_window(const std::vector<std::span<const float>>& pictures, std::size_t enough) {
  std::vector<float> values;
  for (const std::span<const float> grey : pictures) {
    const std::size_t step = 1 + grey.size() * pictures.size() / enough;
    for (std::size_t k = 0; k < grey.size(); k += step)
      if (std::isfinite(grey[k])) values.push_back(grey[k]);
  }
  return values.empty() ? GreyWindow{} : window_of(std::move(values));
}

io::Sheet sheet_of(GreyWindow window, const io::VolumePlace& place) {
  return {.black = window.black,
          .white = window.white,
          .pixel = place.grid.pitch[0],
          .unit = place.unit_of_length(),
          .captions = {words_of_window(window) + ' ' + place.unit()}};
}

void write_preview(io::Output output, std::vector<io::Picture> pictures, const pipeline::Plan& plan) {
  const auto& size = plan.job.grid.size;
  if (size[2] < fewest_slices) pictures.resize(1);
  std::vector<std::span<const float>> all;
  for (std::size_t k = 0; k < pictures.size(); ++k) {
    const std::string count = std::to_string(size[2 - k]), middle = std::to_string(size[2 - k] / 2);
    pictures[k].captions = {std::string("plane ") + "zyx"[k] + " = " + middle + " of " + count};
    all.emplace_back(pictures[k].grey);
  }
  io::write_png(std::move(output), pictures, sheet_of(joint_window(all), plan.job.place()));
}

}  // namespace tandem::apps
