#include "slab_writer.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/rounding.hpp"
#include "../../core/spelled.hpp"
#include "../files/checksum.hpp"

namespace tandem::io {

namespace {

bool is_infinite(std::uint16_t half) { return (half & 0x7fff) == 0x7c00; }

std::string text_of(const std::vector<DoneSlice>& slices) {
  return {reinterpret_cast<const char*>(slices.data()), slices.size() * sizeof(DoneSlice)};
}

std::vector<DoneSlice> slices_in(const std::string& text) {
  std::vector<DoneSlice> slices(text.size() / sizeof(DoneSlice));
  if (!slices.empty()) std::memcpy(slices.data(), text.data(), text.size());
  return slices;
}

}  // namespace

SlabWriter::SlabWriter(std::string name, Shape shape, const VolumeFormat& format, const Comm& ranks)
    : name_(std::move(name)),
      shape_(shape),
      format_(format),
      ranks_(ranks),
      adopted_(shape[0]),
      taken_(shape[0]),
      slices_(shape[0]) {}

/// Notes that these slices have come. @throws FileError if one of them came before
void SlabWriter::take(Range slices) {
  require<FileError>(0 <= slices.first && slices.first < slices.last && slices.last <= shape_[0], name_,
                     ": slices ", slices.first, ":", slices.last, " came; the volume has 0:", shape_[0]);
  const std::lock_guard lock(mutex_);
  const auto first = taken_.begin() + slices.first, last = taken_.begin() + slices.last;
  const auto twice = std::find(first, last, true);
  require<FileError>(twice == last, name_, ": slice ", twice - taken_.begin(), " came twice");
  std::fill(first, last, true);
}

void SlabWriter::set_range(float min, float max) {
  require_range(min, max, name_);
  format_.min = min, format_.max = max;
  format_.range_follows = false;
}

/// Calls `use`, on threads of the pool, for each of these slices that no killed run left.
template <class Use>
void SlabWriter::for_each_new(Range slices, const Use& use) {
  require<SpaceError>(!format_.range_follows, name_, ": slices came before their range");
  take(slices);
  parallel_for(slices.size(), [&](Index k) {
    if (const Index z = slices.first + k; !adopted_[z]) use(z);
  });
  if (!journal_) return;
  std::vector<DoneSlice> written;  // all at once, since a run that resumes makes whole slabs
  for (Index z = slices.first; z < slices.last; ++z)
    if (!adopted_[z]) written.push_back(slices_[z]);
  journal_->add(written);
}

void SlabWriter::write(Range slices, const float* data) {
  const Index area = shape_[1] * shape_[2];
  for_each_new(slices, [&](Index z) {
    const float* slice = data + (z - slices.first) * area;
    if (format_.type == VoxelType::float32)
      put(z, slice);
    else
      put(z, encoded(z, slice).data());
  });
}

void SlabWriter::write_stored(Range slices, const std::byte* numbers, Clipped clipped) {
  for_each_new(slices, [&](Index z) { put(z, numbers + (z - slices.first) * slice_bytes()); });
  below_ += clipped.below, above_ += clipped.above;
}

void SlabWriter::put(Index slice, const void* stored) {
  DoneSlice& written = slices_[slice];
  written = {slice, checksum(stored, slice_bytes()), 0, 0};
  write_slice(written, stored);
  ++written_;
}

std::vector<DoneSlice> SlabWriter::verified(const std::vector<DoneSlice>& slices) {
  std::vector<const DoneSlice*> last(shape_[0]);  // last entry of each slice
  for (const DoneSlice& d : slices)
    if (0 <= d.slice && d.slice < shape_[0]) last[d.slice] = &d;
  parallel_for(shape_[0], [&](Index k) {
    const DoneSlice*& d = last[k];
    if (!d) return;
    const std::vector<std::byte> bytes = stored(*d);
    const bool whole =
        std::ssize(bytes) == slice_bytes() && checksum(bytes.data(), bytes.size()) == d->checksum;
    if (!whole) d = nullptr;
  });
  std::vector<DoneSlice> good;
  for (const DoneSlice* d : last)
    if (d) good.push_back(*d);
  return good;
}

void SlabWriter::adopt(JournalText& text) {
  text.done = slices_in(ranks_.broadcast(text_of(text.done)));
  for (const DoneSlice& d : text.done) {
    slices_[d.slice] = d;
    adopted_[d.slice] = true;
    ++written_;
  }
  if (!ranks_.is_first()) text.done.clear();
}

void SlabWriter::collect() {
  if (ranks_.is_alone()) return;
  std::vector<DoneSlice> own;
  for (std::size_t k = 0; k < slices_.size(); ++k)
    if (taken_[k] && !adopted_[k]) own.push_back(slices_[k]);
  if (!ranks_.is_first()) journal_->complete(own);
  const std::vector<std::string> all = ranks_.gather(text_of(own));
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    for (const DoneSlice& d : slices_in(all[rank])) slices_[d.slice] = d, ++written_;
  std::array clipped{1.0 * below_, 1.0 * above_};
  ranks_.all_reduce(clipped);
  below_ = floor_index(clipped[0]), above_ = floor_index(clipped[1]);
}

std::vector<Range> SlabWriter::done() const {
  std::vector<Range> ranges;
  for (Index k = 0; k < shape_[0]; ++k) {
    if (!adopted_[k]) continue;
    if (ranges.empty() || ranges.back().last < k) ranges.push_back({k, k});
    ranges.back().last = k + 1;
  }
  return ranges;
}

void SlabWriter::read_done(Index slice, float* data) {
  const std::vector<std::byte> bytes = stored(slices_[slice]);
  require<FileError>(std::ssize(bytes) == slice_bytes(), name_, ": slice ", slice, " cannot be read back");
  from_stored(format_, bytes.data(), shape_[1] * shape_[2], data);
}

/// A slice as it is stored. @throws GeometryError for a voxel that the type cannot hold
std::vector<std::byte> SlabWriter::encoded(Index slice, const float* data) {
  const Index area = shape_[1] * shape_[2];
  Clipped clipped;
  std::vector<std::byte> bytes = quantised(format_, data, area, &clipped);
  below_ += clipped.below, above_ += clipped.above;
  if (format_.type != VoxelType::float16) return bytes;
  const auto* halves = reinterpret_cast<const std::uint16_t*>(bytes.data());
  if (std::none_of(halves, halves + area, is_infinite)) return bytes;
  const float voxel = data[std::find_if(halves, halves + area, is_infinite) - halves];
  throw GeometryError(name_ + ": slice " + std::to_string(slice) + ": a voxel is " + std::to_string(voxel) +
                      " " + format_.unit() + "; float16 holds 65504 at most, give " + spelled("dtype") +
                      " float32");
}

void SlabWriter::finish(const std::string& report_json) {
  require<FileError>(written_ == shape_[0], name_, ": has ", written_, " of ", shape_[0],
                     " slices; it is not finished");
  if (journal_) journal_->stop();
  complete(report_json);
}

Index SlabWriter::slice_bytes() const { return shape_[1] * shape_[2] * bytes_of(number_type(format_.type)); }

double SlabWriter::bytes() const { return 1.0 * shape_[0] * slice_bytes(); }

}  // namespace tandem::io
