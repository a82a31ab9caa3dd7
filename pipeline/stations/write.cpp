#include "write.hpp"

#include <algorithm>
#include <cmath>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

/// A picture of NaN, which means that no slice has passed yet.
io::Picture picture(Index width, Index height) {
  return {width, height, std::vector<float>(width * height, NAN)};
}

}  // namespace

QualityWatch::QualityWatch(const VolumeGrid& grid, std::shared_ptr<Truth> truth) : truth_(std::move(truth)) {
  if (truth_) qualities_.resize(grid.size[2]);
}

void QualityWatch::look_at(Index z, const float* slice) {
  if (truth_) qualities_[z] = truth_->compared(z, slice);
}

void QualityWatch::finish(Outcome& outcome) const {
  if (truth_) outcome.quality = combined(qualities_, truth_->range());
}

MiddleSlices::MiddleSlices(const VolumeGrid& grid, bool wanted, OnPictures show)
    : wanted_(wanted), live_(std::move(show)), size_(grid.size) {
  const auto [nx, ny, nz] = size_;
  if (wanted_ || live_.looks()) pictures_ = {picture(nx, ny), picture(nx, nz), picture(ny, nz)};
}

void MiddleSlices::look_at(Index z, const float* slice) {
  if (pictures_.empty()) return;
  const Index nx = size_[0], ny = size_[1], nz = size_[2];
  io::Picture &along_z = pictures_[0], &along_y = pictures_[1], &along_x = pictures_[2];
  if (z == nz / 2) along_z.grey.assign(slice, slice + nx * ny);
  std::copy_n(slice + ny / 2 * nx, nx, along_y.grey.begin() + z * nx);
  for (Index y = 0; y < ny; ++y) along_x.grey[z * ny + y] = slice[y * nx + nx / 2];
}

std::vector<LivePicture> MiddleSlices::planes() const {
  const std::array<std::pair<const char*, Index>, 3> axes{
      {{"z", size_[2]}, {"y", size_[1]}, {"x", size_[0]}}};
  std::vector<LivePicture> shown;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const io::Picture& plane = pictures_[k];
    shown.push_back(
        {axes[k].first, axes[k].second / 2, axes[k].second, shrunk(plane.grey, plane.width, plane.height)});
  }
  return shown;
}

void MiddleSlices::show(Index newest, const float* slice) {
  if (!live_.due()) return;
  std::vector<LivePicture> shown = planes();
  const auto [nx, ny, nz] = size_;
  shown.insert(shown.begin(), {"newest", newest, nz, shrunk(std::span(slice, nx * ny), nx, ny)});
  live_.show(std::move(shown));
}

void MiddleSlices::finish(Outcome& outcome) {
  if (live_.looks()) live_.show(planes());
  if (wanted_) outcome.middle = std::move(pictures_);
}

WriteStation::WriteStation(io::VolumeWriter& writer, const Plan& plan, Watch& watch, Outcome& outcome,
                           QualityWatch quality, MiddleSlices middle)
    : writer_(writer),
      plan_(plan),
      watch_(watch),
      outcome_(outcome),
      passed_(plan.job.grid.size[2]),
      quality_(std::move(quality)),
      middle_(std::move(middle)) {}

void WriteStation::operator()(Chunk& chunk) {
  if (finds_range_) set_range_of(chunk);
  if (chunk.slices.size() == 0) return;  // if there are several ranks, some may have none
  {
    const double slices = chunk.slices.size();
    const Stopwatch watch(
        "write", outcome_.seconds.write, watch_.board(),
        {.slices = slices, .bytes = 4 * slices * (plan_.job.grid.size[0] * plan_.job.grid.size[1])});
    chunk.stored ? writer_.write_stored(chunk.slices, chunk.stored, chunk.clipped)
                 : writer_.write(chunk.slices, chunk.volume);
  }
  if (looks()) look_at(chunk);
  written_ += chunk.slices.size();
  std::fill(passed_.begin() + chunk.slices.first, passed_.begin() + chunk.slices.last, true);
  watch_.writing("write", written_);
  chunk.own.reset();
}

void WriteStation::look_at(const Chunk& chunk) {
  const Index area = plan_.job.grid.size[0] * plan_.job.grid.size[1];
  for (Index z = chunk.slices.first; z < chunk.slices.last; ++z) {
    const float* slice = chunk.volume + (z - chunk.slices.first) * area;
    middle_.look_at(z, slice);
    quality_.look_at(z, slice);
    if (z + 1 == chunk.slices.last) middle_.show(z, slice);
  }
}

void WriteStation::look_at_rest() {
  if (!looks()) return;
  std::vector<float> slice(plan_.job.grid.size[0] * plan_.job.grid.size[1]);
  for (std::size_t z = 0; z < passed_.size(); ++z) {
    if (passed_[z]) continue;
    writer_.read_done(z, slice.data());
    middle_.look_at(z, slice.data());
    quality_.look_at(z, slice.data());
  }
}

void WriteStation::set_range_of(const Chunk& chunk) {
  RangeFinder finder(plan_.job.grid);
  finder.look_at(chunk.slices, chunk.volume);
  finder.join(plan_.flow.shared.vectors);
  outcome_.range = finder.range();
  writer_.set_range(outcome_.range->min, outcome_.range->max);
  finds_range_ = false;
}

void WriteStation::finish() {
  quality_.finish(outcome_);
  middle_.finish(outcome_);
}

}  // namespace tandem::pipeline
