#include "look_frames.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../counts/pixels.hpp"
#include "../command.hpp"
#include "look_command.hpp"

namespace tandem::apps {

namespace {

using nlohmann::json;

std::vector<float> floats_of(const io::Frames& frames) {
  const auto [count, rows, bins] = frames.shape;
  return pipeline::with_pixels(frames, [&, pixels = count * rows * bins](const auto* first) {
    return std::vector<float>(first, first + pixels);
  });
}

/// The largest number that a cell of the type can have; none for floats.
std::optional<double> largest(io::PixelType type) {
  switch (type) {
    case io::PixelType::uint8:
      return std::numeric_limits<std::uint8_t>::max();
    case io::PixelType::uint16:
      return std::numeric_limits<std::uint16_t>::max();
    default:
      return std::nullopt;
  }
}

/// Frames at the middles of so many equal parts of all of them.
std::vector<Index> evenly_taken(Index all, Index most) {
  const Index taken = std::min(all, most);
  std::vector<Index> which;
  for (Index k = 0; k < taken; ++k) which.push_back((2 * k + 1) * all / (2 * taken));
  return which;
}

json places_of(std::span<const std::size_t> cells, Index bins) {
  constexpr std::size_t most = 2000;
  json places = json::array();
  for (const std::size_t cell : cells.first(std::min(cells.size(), most))) {
    places.push_back(cell % bins);
    places.push_back(cell / bins);
  }
  return places;
}

struct Asked {
  io::FrameKind kind;
  bool over_views;
};

Asked kind_asked_for(const json& asked) {
  const std::string kind = asked.value("kind", "projection");
  if (kind == "projection") return {io::FrameKind::projection, false};
  if (kind == "flat") return {io::FrameKind::flat, false};
  if (kind == "dark") return {io::FrameKind::dark, false};
  if (kind == "mean" || kind == "spread") return {io::FrameKind::projection, true};
  throw UsageError("kind: projection, flat, dark, mean or spread is needed");
}

}  // namespace

json histogram_of(std::span<const float> values) {
  constexpr std::size_t bars = 96;
  float low = std::numeric_limits<float>::max(), high = -low;
  double sum = 0, squares = 0;
  Index finite = 0;
  for (const float v : values)
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v), sum += v, ++finite;
  if (finite == 0) return nullptr;
  const double mean = sum / finite;
  std::vector<Index> counts(bars);
  const double width = std::max(high - low, 1e-30F);
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    squares += (v - mean) * (v - mean);
    const auto k = static_cast<std::size_t>((v - low) / width * bars);
    ++counts[std::min(k, bars - 1)];
  }
  return {{"low", low},       {"high", high},    {"mean", mean}, {"spread", std::sqrt(squares / finite)},
          {"finite", finite}, {"counts", counts}};
}

std::vector<float> LookFrames::read(io::FrameKind kind, Index index) const {
  const Detector& d = detector_of(reader_.info().scan);
  return floats_of(reader_.read(kind, {index, index + 1}, {0, d.rows}, {0, d.bins}));
}

/// Over up to five frames.
std::vector<double> LookFrames::mean_of(io::FrameKind kind, Index count) const {
  constexpr Index most = 5;
  const Detector& d = detector_of(reader_.info().scan);
  std::vector<double> sum(d.rows * d.bins);
  const std::vector<Index> which = evenly_taken(count, most);
  for (const Index k : which) {
    const std::vector<float> one = read(kind, k);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += one[i] / which.size();
  }
  return sum;
}

const LookFrames::OverViews& LookFrames::over_views() {
  constexpr Index most = 64;
  if (over_views_) return *over_views_;
  const std::vector<Index> which = evenly_taken(views_of(reader_.info().scan), most);
  OverViews all;
  all.taken = which.size();
  std::vector<double> mean, squares;
  double taken = 0;
  for (const Index view : which) {  // by Welford: counts are large beside how they vary
    const std::vector<float> one = read(io::FrameKind::projection, view);
    mean.resize(one.size()), squares.resize(one.size());
    ++taken;
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double before = one[i] - mean[i];
      mean[i] += before / taken;
      squares[i] += before * (one[i] - mean[i]);
    }
  }
  all.mean.assign(mean.begin(), mean.end());
  for (const double sum : squares) all.spread.push_back(static_cast<float>(std::sqrt(sum / taken)));
  return over_views_.emplace(std::move(all));
}

const std::vector<std::size_t>& LookFrames::dead() {
  if (dead_) return *dead_;
  const io::ScanInfo& info = reader_.info();
  std::vector<std::size_t> cells;
  if (info.flats > 0) {
    const std::vector<double> flat = mean_of(io::FrameKind::flat, info.flats),
                              dark = mean_of(io::FrameKind::dark, info.darks);
    for (std::size_t i = 0; i < flat.size(); ++i)
      if (!(flat[i] > dark[i])) cells.push_back(i);
  }
  return dead_.emplace(std::move(cells));
}

Pictured LookFrames::frame(const json& asked) {
  const auto [kind, over] = kind_asked_for(asked);
  const io::ScanInfo& info = reader_.info();
  const Detector& d = detector_of(info.scan);
  const Index frames = kind == io::FrameKind::projection ? views_of(info.scan)
                       : kind == io::FrameKind::flat     ? info.flats
                                                         : info.darks,
              count = over ? 1 : frames, index = whole_of(asked, "index", 0, {0, count});
  const std::string name = asked.value("kind", "projection");
  const std::vector<float> grey = !over              ? read(kind, index)
                                  : name == "spread" ? over_views().spread
                                                     : over_views().mean;
  Pictured some{pipeline::shrunk(grey, d.bins, d.rows, whole_of(asked, "side", 4096, {16, 16385})), {}};
  some.head = {{"kind", name}, {"index", index}, {"count", count}, {"whole", {d.bins, d.rows}}};
  some.head["histogram"] = histogram_of(grey);
  if (over) some.head["of"] = over_views().taken;
  std::vector<std::size_t> full;
  if (const auto most = largest(info.type); most && !over)
    for (std::size_t i = 0; i < grey.size(); ++i)
      if (grey[i] == static_cast<float>(*most)) full.push_back(i);
  some.head["saturated"] = full.size(), some.head["dead"] = dead().size();
  some.head["marks"] = {{"saturated", places_of(full, d.bins)}, {"dead", places_of(dead(), d.bins)}};
  return some;
}

}  // namespace tandem::apps
