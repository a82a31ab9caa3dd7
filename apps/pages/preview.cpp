#include "preview.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

namespace tandem::apps {

namespace {

/// Which plane each picture is, and below the first what black and white stand for.
void add_captions(std::vector<io::Picture>& pictures, const pipeline::Plan& plan, float black, float white) {
  const auto& size = plan.job.grid.size;
  const auto plane = [](const char* axis, Index count) {
    return std::string(axis) + " " + std::to_string(count / 2) + " of " + std::to_string(count);
  };
  pictures[0].captions = {plane("slice z", size[2])};
  if (pictures.size() > 1) pictures[1].captions = {plane("plane y", size[1])};
  if (pictures.size() > 2) pictures[2].captions = {plane("plane x", size[0])};
  for (const auto& [name, value] : {std::pair("black ", black), std::pair("white ", white)}) {
    std::ostringstream text;
    text.precision(4);
    text << name << value << ' ' << plan.job.unit();
    pictures[0].captions.push_back(text.str());
  }
}

}  // namespace

GreyWindow window_of(std::vector<float> values) {
  const auto at = [&](double share) {
    const auto k = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + k, values.end());
    return values[static_cast<std::size_t>(k)];
  };
  const float low = at(0.005), high = at(0.995);
  return {low, high > low ? high : low + 1};
}

void write_preview(io::Output output, std::vector<io::Picture> pictures, const pipeline::Plan& plan) {
  if (pictures[1].height < fewest_slices) pictures.resize(1);
  std::vector<float> all;
  for (const auto& p : pictures) all.insert(all.end(), p.grey.begin(), p.grey.end());
  const auto [black, white] = window_of(std::move(all));
  add_captions(pictures, plan, black, white);
  io::write_png(std::move(output), pictures, black, white);
}

}  // namespace tandem::apps
