#include "beam_rows.hpp"

#include <algorithm>

#include "../../core/ceil_div.hpp"
#include "../../core/host_memory.hpp"

namespace tandem::pipeline {

BeamRows::BeamRows(const Job& job)
    : scan_(job.scan),
      made_of_(job.preprocessing.minus_log ? calibration::LinesOf::cells : calibration::LinesOf::others),
      why_not_(job.preprocessing.keeps_transmissions ? "the method takes counts as they are"
               : is_curved(scan_)                    ? "the detector is curved"
               : job.circle ? "the method takes views as they stand, with a tilt, a roll or shifts"
                            : "") {
  constexpr Index most_views = 360, most_bins = 8192;
  const Index views = views_of(scan_), bins = detector_of(scan_).bins;
  rows_ = calibration::rows_for_hardening(scan_, {0, detector_of(scan_).rows});
  rows_.resize(std::min<std::size_t>(rows_.size(), std::max<Index>(1, most_bins / bins)));
  step_ = ceil_div(views, most_views);
  std::vector<Index> kept;
  for (Index view = 0; view < views; view += step_) kept.push_back(view);
  scan_ = with_views(scan_, kept);
  if (!why_not_.empty()) rows_.clear();
  is_there_.resize(kept.size() * rows_.size());
  lines_.resize(is_there_.size() * bins);
}

void BeamRows::add(Range views, Range rows, const Array& y) {
  const Device device = y.space().device();
  const Index bins = y.space().shape()[2];
  Stream& stream = default_stream(device);
  Range part{views.first, views.first};
  for (int k = 0; k < y.space().shares(); ++k) {
    const Image<const float> all = image(ConstVectorView(y).share(k));
    part = {part.last, part.last + all.n0};
    const Index first = ceil_div(part.first, step_) * step_, count = ceil_div(part.last - first, step_);
    if (first >= part.last) continue;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!(rows.first <= rows_[row] && rows_[row] < rows.last)) continue;
      const PinHostMemory pinned(device);
      Array some(Space({count, 1, bins}), default_stream(Device::cpu()));
      carry({&all(first - part.first, rows_[row] - rows.first, 0), count, 1, bins, step_ * all.s0, all.s1},
            image(VectorView(some)), stream.member(k));
      stream.synchronize();
      for (Index v = 0; v < count; ++v) {
        const std::size_t place = place_of(first + v * step_, row);
        std::copy_n(some.data() + v * bins, bins, &lines_[place * bins]);
        is_there_[place] = 1;
      }
    }
  }
}

void BeamRows::add(const BeamRows& other) {
  const std::size_t bins = detector_of(scan_).bins;
  for (std::size_t place = 0; place < is_there_.size(); ++place) {
    if (is_there_[place] || !other.is_there_[place]) continue;
    std::copy_n(&other.lines_[place * bins], bins, &lines_[place * bins]);
    is_there_[place] = 1;
  }
}

calibration::Hardening BeamRows::diagnosis() const {
  const Index bins = detector_of(scan_).bins, views = views_of(scan_);
  std::vector<std::size_t> whole;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    bool has_all = true;
    for (Index view = 0; view < views; ++view) has_all &= is_there_[view * rows_.size() + row] != 0;
    if (has_all) whole.push_back(row);
  }
  if (!why_not_.empty()) return {.why_not = why_not_};
  if (rows_.empty()) return {.why_not = "no row lies near the midplane, where rays stay in one plane"};
  if (whole.empty()) return {.why_not = "not all views of the rows that tell were read in this run"};
  std::vector<float> lines;
  lines.reserve(views * whole.size() * bins);
  for (Index view = 0; view < views; ++view)
    for (const std::size_t row : whole) {
      const float* from = &lines_[(view * rows_.size() + row) * bins];
      lines.insert(lines.end(), from, from + bins);
    }
  return calibration::find_hardening(
      lines, crop(scan_, {0, views}, {rows_[whole.front()], rows_[whole.back()] + 1}, {0, bins}),
      std::ssize(whole), calibration::HardeningBy::moments, made_of_);
}

}  // namespace tandem::pipeline
