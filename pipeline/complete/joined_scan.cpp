#include "joined_scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "../../calibration/frame_stack.hpp"
#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "joined_part.hpp"

namespace tandem::pipeline {

namespace {

using calibration::Along;

/// Where a line of frames begins and ends, in cells of the first scan: with all that one of the parts has, or
/// with what all have.
Range cells_of(const std::vector<JoinedPart>& parts, double JoinedPart::*place, Index cells, bool all) {
  const auto [low, high] =
      std::ranges::minmax_element(parts, {}, [&](const JoinedPart& part) { return part.*place; });
  const double lowest = (*low).*place, highest = (*high).*place;
  const double first = all ? lowest : highest, last = cells - 1 + (all ? highest : lowest);
  return {ceil_index(first), floor_index(last) + 1};
}

/// How much each cell of a line counts in a part that lies `place` cells further: its distance from the end.
double weight_of(Index cell, double place, Index cells) {
  const double here = cell - place;
  return here < 0 || here > cells - 1 ? 0 : std::min(here, cells - 1 - here) + 1;
}

/// Frames of parts on the cells of the first one.
class JoinedScan final : public io::ScanReader {
 public:
  JoinedScan(std::vector<JoinedPart> parts, Along along, const std::vector<std::string>& notes)
      : parts_(std::move(parts)), along_(along) {
    const Detector& d = parts_.front().detector();
    rows_ = cells_of(parts_, &JoinedPart::row_offset, d.rows, along == Along::rows);
    bins_ = cells_of(parts_, &JoinedPart::bin_offset, d.bins, along == Along::bins);
    require<GeometryError>(rows_.size() > 0 && bins_.size() > 0, spelled("stitch"),
                           ": no row or no bin is seen by all scans");
    require_no_gap();
    describe(notes);
  }

  using ScanReader::read;
  void read(io::FrameKind kind, Range frames, Range rows, Range bins, io::Frames& into) override {
    const bool views = kind == io::FrameKind::projection;
    into.type = io::PixelType::float32, into.shape = {frames.size(), rows.size(), bins.size()};
    into.first = frames.first;
    const Index frame = rows.size() * bins.size();
    into.bytes.resize(frames.size() * frame * sizeof(float));
    auto* out = reinterpret_cast<float*>(into.bytes.data());
    std::fill_n(out, frames.size() * frame, views ? 0 : bright_);
    if (!views) return;
    const Index some = std::max<Index>(1, floor_index(bytes_at_once / (frame * sizeof(float))));
    for (Index view = frames.first; view < frames.last; view += some) {
      const Range block{view, std::min(view + some, frames.last)};
      for (JoinedPart& part : parts_) add(part, block, rows, bins, out + (view - frames.first) * frame);
    }
  }

 private:
  static constexpr double bytes_at_once = 16e6;

  Index cells() const {
    const Detector& d = parts_.front().detector();
    return along_ == Along::rows ? d.rows : d.bins;
  }
  double place_of(const JoinedPart& part) const {
    return along_ == Along::rows ? part.row_offset : part.bin_offset;
  }

  /// The share of a part in the cells of a range, along the direction in which parts are joined.
  std::vector<float> shares_of(const JoinedPart& part, Range range) const {
    const Range all = along_ == Along::rows ? rows_ : bins_;
    std::vector<float> shares;
    for (Index k = all.first + range.first; k < all.first + range.last; ++k) {
      double sum = 0;
      for (const JoinedPart& each : parts_) sum += weight_of(k, place_of(each), cells());
      shares.push_back(static_cast<float>(weight_of(k, place_of(part), cells()) / sum));
    }
    return shares;
  }

  void require_no_gap() const {
    std::vector<double> places;
    for (const JoinedPart& part : parts_) places.push_back(place_of(part));
    std::ranges::sort(places);
    for (std::size_t k = 1; k < places.size(); ++k)
      require<GeometryError>(places[k] - places[k - 1] <= cells() - 1, spelled("stitch"), ": ",
                             ceil_index(places[k] - places[k - 1] - cells() + 1),
                             along_ == Along::rows ? " rows" : " bins",
                             " between two scans are seen by none; are the steps in mm?");
  }

  void describe(const std::vector<std::string>& notes) {
    info_ = parts_.front().info();
    auto& scan = std::get<ParallelBeam>(info_.scan);
    const Detector& d = parts_.front().detector();
    if (info_.axis_bin) *info_.axis_bin -= bins_.first;
    scan.detector.rows = rows_.size(), scan.detector.bins = bins_.size();
    scan.detector.axis_bin = info_.axis_bin.value_or(0.5 * (bins_.size() - 1));
    info_.type = io::PixelType::float32;
    info_.packing.clear();
    if (along_ == Along::bins) info_.field_of_view.reset();
    info_.darks = 0;
    bright_ = static_cast<float>(parts_.front().brightness());
    info_.times = info_.exposures = info_.monitor = {};
    info_.decoded_bytes =
        static_cast<std::size_t>(3 * bytes_at_once + 24.0 * parts_.size() * d.rows * d.bins);
    for (std::size_t k = 1; k < parts_.size(); ++k)
      for (const std::string& note : parts_[k].info().notes)
        if (!std::ranges::count(info_.notes, note)) info_.notes.push_back(parts_[k].name() + ": " + note);
    info_.notes.insert(info_.notes.end(), notes.begin(), notes.end());
    if (bins_.first != 0)
      info_.notes.push_back("bin 0 of the joined scan is bin " + std::to_string(bins_.first) + " of " +
                            parts_.front().name() + ": a known axis moves with it");
  }

  /// Adds a part to the views `block`, (view, row, bin) of the ranges.
  void add(JoinedPart& part, Range block, Range rows, Range bins, float* out) {
    const std::vector<float> shares = shares_of(part, along_ == Along::rows ? rows : bins);
    if (std::ranges::all_of(shares, [](float share) { return share == 0; })) return;
    const Detector& d = part.detector();
    const double top = rows_.first + rows.first - part.row_offset,
                 left = bins_.first + bins.first - part.bin_offset;
    const Index first_row = floor_index(top), first_bin = floor_index(left);
    const auto by_row = calibration::cubic_weights(static_cast<float>(top - first_row)),
               by_bin = calibration::cubic_weights(static_cast<float>(left - first_bin));
    const Range source{std::clamp<Index>(first_row - 1, 0, d.rows - 1),
                       std::clamp<Index>(first_row + rows.size() + 2, 1, d.rows)};
    const Array frames = part.frames(block, source);
    const bool lines = !part.has_transmissions();
    const float bright = bright_ * (lines ? 1 : static_cast<float>(std::exp(-part.brighter))),
                more = lines ? bright_ * static_cast<float>(part.brighter) : 0;
    parallel_for(block.size() * rows.size(), [&](Index line) {
      const Index view = line / rows.size(), row = line % rows.size();
      std::vector<float> mixed(d.bins, more);
      for (Index k = 0; k < 4; ++k) {
        const Index from = std::clamp(first_row + row + k - 1, source.first, source.last - 1) - source.first;
        const float* values = frames.data() + (view * source.size() + from) * d.bins;
        for (Index bin = 0; bin < d.bins; ++bin) mixed[bin] += by_row[k] * bright * values[bin];
      }
      float* to = out + line * bins.size();
      for (Index bin = 0; bin < bins.size(); ++bin) {
        const float share = shares[along_ == Along::rows ? row : bin];
        if (share == 0) continue;
        for (Index k = 0; k < 4; ++k)
          to[bin] += share * by_bin[k] * mixed[std::clamp<Index>(first_bin + bin + k - 1, 0, d.bins - 1)];
      }
    });
  }

  std::vector<JoinedPart> parts_;
  Along along_;
  float bright_ = 1;   ///< counts that are a transmission of 1
  Range rows_, bins_;  ///< the cells of the first scan that the result has
};

}  // namespace

std::unique_ptr<io::ScanReader> join_scans(const std::vector<NamedScan>& scans, const Stitch& how,
                                           const StepValues& of_cells) {
  std::vector<JoinedPart> parts;
  for (const NamedScan& scan : scans) parts.emplace_back(scan, of_cells);
  require_joinable(parts);
  const std::vector<std::string> notes = place_parts(parts, how);
  return std::make_unique<JoinedScan>(std::move(parts), how.along, notes);
}

}  // namespace tandem::pipeline
