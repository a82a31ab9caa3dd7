#include "read.hpp"

#include <algorithm>
#include <future>
#include <tuple>

#include "../../core/host_memory.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../operators/tiling.hpp"
#include "../plan/chunks_due.hpp"
#include "../plan/route.hpp"
#include "../watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

/// The slices whose rows are read together with those of a chunk.
Range part_of(const Plan& plan, Range chunk) {
  const Index size = plan.flow.slices_a_read;
  if (size <= chunk.size()) return chunk;
  const Index first = chunk.first / size * size;
  return {first, std::min(first + size, plan.job.grid.size[2])};
}

/// Some of these frames, numbered from 0.
io::FramesView frames_within(io::FramesView frames, Range some) {
  frames.data += some.first * frames.frame_step * bytes_of(frames.type);
  frames.shape[0] = some.size();
  frames.first += some.first;
  return frames;
}

/// Some rows of frames that hold the rows `held` of a file.
io::FramesView rows_within(io::FramesView frames, Range held, Range rows) {
  frames.data += (rows.first - held.first) * frames.row_step * bytes_of(frames.type);
  frames.shape[1] = rows.size();
  return frames;
}

}  // namespace

bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info) {
  return gpus_prepare(plan.job, plan.flow) && info.type != PixelType::float32;
}

bool prepared_on_gpu_alone(const Plan& plan, const io::ScanInfo& info) {
  return prepared_on_gpu(plan, info) && !plan.flow.helper();
}

Index rows_with_margins(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  const auto [beside, block] = job.margin;
  const bool in_blocks = slices < job.grid.size[2] && block_of_chunks(plan) == block && slices % block == 0;
  const Index rows = plan.flow.route->rows_made(plan, slices) + 2 * (beside + (in_blocks ? 0 : block - 1));
  return std::min(rows * job.rows_together, job.rows_there.size());
}

double cells_read(const Plan& plan, Index slices) {
  return 1.0 * rows_with_margins(plan, slices) * plan.job.bins.size();
}

double counts_bytes(const io::ScanInfo& info, double cells, Index views) {
  return views * cells * io::bytes_of(info.type);
}

/// Each set of flats becomes three numbers per cell, and the darks become one. Pixels of all frames are read,
/// and the sets are averaged one at a time. Steps change them as numbers, and compare with what they were.
ReferenceBytes reference_bytes(const Job& job, const io::ScanInfo& info, double cells) {
  const double binned = cells / (job.rows_together << job.preprocessing.binning);
  const bool changed = std::ranges::any_of(job.preprocessing.table(), [&](const Step& step) {
    return step.on_references && step.asked_for(job.preprocessing);
  });
  const double frames = std::max(info.flats, info.darks);
  return {4 * cells * (2 + (changed ? 3 : 1) * frames), 4 * binned * (1 + 3 * job.flats.sets.size())};
}

Index bytes_a_piece(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const bool packed = !info.packing.empty() || info.decoded_bytes > 0;
  if (packed || !prepared_on_gpu_alone(plan, info)) return 0;
  const double counts = counts_bytes(info, cells_read(plan, slices), plan.job.views.size());
  return counts > bytes_read_whole ? bytes_read_at_once : 0;
}

std::optional<double> bytes_of_pieces(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const Index piece = bytes_a_piece(plan, info, slices);
  if (piece == 0) return {};
  return 2 * std::max<double>(piece, counts_bytes(info, cells_read(plan, slices), 1));
}

void ReadStation::read_part(Range slices) {
  part_rows_ = rows_read(plan_, slices).rows;
  const Index pixels = plan_.job.views.size() * part_rows_.size() * plan_.job.bins.size();
  const Load load{.slices = 1.0 * slices.size(), .bytes = 1.0 * pixels * bytes_of(reader_.info().type)};
  const Stopwatch watch("read", outcome_.seconds.read, watch_.board(), load);
  part_.reset();  // so that its memory can be used again
  part_reference_.reset();
  auto frames = std::make_shared<io::Frames>();
  const PinHostMemory pinned(gpus_prepare(plan_.job, plan_.flow) ? plan_.flow.home() : Device::cpu());
  reader_.read(io::FrameKind::projection, plan_.job.views, part_rows_, plan_.job.bins, *frames);
  part_ = std::move(frames);
}

std::pair<io::FramesView, std::shared_ptr<const io::Frames>> ReadStation::counts_of(Range slices) {
  const Range rows = rows_read(plan_, slices).rows;
  if (const auto there = reader_.in_memory(io::FrameKind::projection, plan_.job.views, rows, plan_.job.bins))
    return {*there, nullptr};
  if (!has_part(rows)) read_part(part_of(plan_, slices));
  return {rows_within(*part_, part_rows_, rows), part_};
}

Reference ReadStation::reference_of(Range rows) {
  const auto read = [this](Range some) {
    return read_reference(reader_, some, plan_.job.bins, plan_.job.preprocessing);
  };
  if (!has_part(rows)) return read(rows);
  if (!part_reference_) part_reference_ = read(part_rows_);
  const Index factor = plan_.job.rows_together, first = (rows.first - part_rows_.first) / factor;
  return crop(*part_reference_, {first, first + rows.size() / factor});
}

bool ReadStation::goes_up_in_pieces(Range rows) {
  return plan_.flow.bytes_a_piece > 0 &&
         !reader_.in_memory(io::FrameKind::projection, plan_.job.views, rows, plan_.job.bins);
}

void ReadStation::get_reference(Chunk& chunk, const Load& load) {
  const Stopwatch clock("read", outcome_.seconds.read, watch_.board(), load);
  const auto [rows, above, below, counted] = rows_read(plan_, chunk.slices);
  chunk.reference = reference_of(rows);
  chunk.reference->margin_above = above;
  chunk.reference->margin_below = below;
  chunk.reference->counted = counted;
}

void ReadStation::get_counts(Chunk& chunk) {
  std::tie(chunk.counts, chunk.read) = counts_of(chunk.slices);
  if (plan_.flow.slices_a_read <= chunk.slices.size()) part_.reset();  // the chunk alone needs it
}

void ReadStation::read_counts(Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  get_counts(chunk);
}

void ReadStation::read_rows(Range rows, double of_slices, Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  const auto [read, above, below, counted] = rows_around(plan_.job, rows);
  const double bytes =
      plan_.job.views.size() * read.size() * plan_.job.bins.size() * bytes_of(reader_.info().type);
  const Stopwatch clock("read", outcome_.seconds.read, watch_.board(), {.slices = of_slices, .bytes = bytes});
  if (const auto there =
          reader_.in_memory(io::FrameKind::projection, plan_.job.views, read, plan_.job.bins)) {
    chunk.counts = *there;
  } else {
    chunk.read.reset();  // so that its memory can be used again
    const PinHostMemory pinned(gpus_prepare(plan_.job, plan_.flow) ? plan_.flow.home() : Device::cpu());
    auto frames = std::make_shared<io::Frames>();
    reader_.read(io::FrameKind::projection, plan_.job.views, read, plan_.job.bins, *frames);
    chunk.counts = *frames;
    chunk.read = std::move(frames);
  }
  chunk.reference = read_reference(reader_, read, plan_.job.bins, plan_.job.preprocessing);
  chunk.reference->margin_above = above;
  chunk.reference->margin_below = below;
  chunk.reference->counted = counted;
}

std::vector<GpuFrames> ReadStation::on_gpus(Chunk& chunk, const Space& views, Work& work) {
  const std::lock_guard turn(turn_);
  const double first = chunk.slices.first;
  watch_.reading("read", first);
  {
    const std::lock_guard lock(mutex_);
    get_reference(chunk, {});
  }
  std::vector<GpuFrames> there;
  for (int k = 0; k < views.shares(); ++k) {
    const Index plane = views.first_plane(k), count = views.share(k).shape()[0];
    there.push_back(on_gpu(chunk.slices, {plane, plane + count}, k, work));
  }
  watch_.reading("", first);
  return there;
}

GpuFrames ReadStation::on_gpu(Range slices, Range all, int member, Work& work) {
  Stream& stream = default_stream(work.device()).member(member);
  const Index frame =
      rows_read(plan_, slices).rows.size() * plan_.job.bins.size() * bytes_of(reader_.info().type);
  const std::vector<Range> blocks = pieces(all, std::max<Index>(1, plan_.flow.bytes_a_piece / frame));
  for (io::Frames& some : going_up_) {  // the memory is the same for all chunks, however tall
    const PinHostMemory pinned(stream.device());
    some.bytes.reserve(std::max(plan_.flow.bytes_a_piece, frame));
  }
  const double of_slices = 1.0 * slices.size() / plan_.job.views.size();
  std::optional<GpuFrames> there;
  std::future<void> moved;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const io::FramesView some = views(slices, blocks[k], of_slices * blocks[k].size(), going_up_[k % 2]);
    if (!there) there = room_on_gpu(some, all.size(), stream);
    if (moved.valid()) moved.get();
    moved = std::async(std::launch::async, [&, some] { work.move_to(*there, some, stream); });
  }
  moved.get();
  return std::move(*there);
}

bool ReadStation::is_met(Chunk& chunk) const {
  return chunk.is_met = rows_of(plan_, chunk.slices).size() > 0;
}

void ReadStation::operator()(Chunk& chunk) {
  if (!is_met(chunk)) return;
  const std::lock_guard lock(mutex_);
  if (goes_up_in_pieces(rows_read(plan_, chunk.slices).rows)) return;
  const double first = chunk.slices.first;
  watch_.reading("read", first);
  get_counts(chunk);
  const Load in_memory{.slices = 1.0 * chunk.slices.size()};
  get_reference(chunk, chunk.read ? Load{} : in_memory);
  watch_.reading("", first);
}

void ReadStation::references(Chunk& chunk) {
  if (!is_met(chunk)) return;
  const std::lock_guard lock(mutex_);
  const double first = chunk.slices.first;
  watch_.reading("read", first);
  get_reference(chunk, {});
  watch_.reading("", first);
}

io::FramesView ReadStation::views(Range slices, Range views, double of_slices, io::Frames& memory) {
  const std::lock_guard lock(mutex_);
  const Range rows = rows_read(plan_, slices).rows,
              frames{plan_.job.views.first + views.first, plan_.job.views.first + views.last};
  if (plan_.flow.slices_a_read > 0) {
    const auto [all, owner] = counts_of(slices);  // the owner stays, since all slices are one part
    return frames_within(all, views);
  }
  const Load load{
      .slices = of_slices,
      .bytes = 1.0 * views.size() * rows.size() * plan_.job.bins.size() * bytes_of(reader_.info().type)};
  const Stopwatch clock("read", outcome_.seconds.read, watch_.board(), load);
  if (const auto there = reader_.in_memory(io::FrameKind::projection, frames, rows, plan_.job.bins))
    return *there;
  const PinHostMemory pinned(gpus_prepare(plan_.job, plan_.flow) ? plan_.flow.home() : Device::cpu());
  reader_.read(io::FrameKind::projection, frames, rows, plan_.job.bins, memory);
  return memory;
}

}  // namespace tandem::pipeline
