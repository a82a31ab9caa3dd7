#include "read.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "../../core/host_memory.hpp"
#include "../../counts/steps/chain.hpp"
#include "../../operators/tiling.hpp"
#include "../methods/work.hpp"
#include "../plan/route.hpp"
#include "../watch/stopwatch.hpp"

namespace tandem::pipeline {

namespace {

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

Index rows_with_margins(const Plan& plan, Index slices) {
  const Job& job = plan.job;
  const auto [beside, block] = job.margin;
  const bool in_blocks = slices < job.grid.size[2] && block_of_chunks(plan) == block && slices % block == 0;
  const Index rows = route_of(plan.flow).rows_made(plan, slices) + 2 * (beside + (in_blocks ? 0 : block - 1));
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

Index bytes_going_up(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const bool packed = !info.packing.empty() || info.decoded_bytes > 0;
  if (packed || !prepared_on_gpu(plan, info)) return 0;
  const double counts = counts_bytes(info, cells_read(plan, slices), plan.job.views.size());
  return counts > bytes_read_whole ? bytes_read_at_once : 0;
}

std::optional<double> bytes_of_pieces(const Plan& plan, const io::ScanInfo& info, Index slices) {
  const Index piece = bytes_going_up(plan, info, slices);
  if (piece == 0) return {};
  return 2 * std::max<double>(piece, counts_bytes(info, cells_read(plan, slices), 1));
}

Request request_for(const Plan& plan, Range slices) {
  return {.rows = rows_read(plan, slices),
          .views = {0, plan.job.views.size()},
          .slices = slices,
          .of_slices = 1.0 * slices.size(),
          .in_pieces = piece_bytes(plan.flow) > 0};
}

Counts ReadStation::get(const Request& asked) {
  Counts counts{.asked = asked, .reference = asked.reference};
  const std::lock_guard lock(mutex_);
  if (asked.in_pieces && !in_memory(asked)) return counts;
  const double first = asked.slices.first;
  watch_.reading("read", first);
  if (asked.views.size() > 0) add_frames(counts);
  if (!counts.reference) add_reference(counts);
  watch_.reading("", first);
  return counts;
}

std::optional<io::FramesView> ReadStation::in_memory(const Request& asked) {
  return reader_.in_memory(io::FrameKind::projection, in_file(asked.views), asked.rows.rows, plan_.job.bins);
}

/// Counts of a part of the scan are read at once, and kept for the requests that follow.
void ReadStation::add_frames(Counts& counts) {
  const Request& asked = counts.asked;
  if (const auto there = in_memory(asked)) {
    counts.frames = *there;
    return;
  }
  const Index all = plan_.job.grid.size[2], part = part_slices(plan_.flow, all);
  const bool some_views = asked.views.size() < plan_.job.views.size();
  if (part > asked.slices.size() || (part > 0 && some_views)) {
    const Index first = asked.slices.first / part * part;
    if (!has_part(asked.rows.rows)) read_part({first, std::min(first + part, all)});
    counts.owner = part_;
    counts.frames = frames_within(rows_within(*part_, part_rows_, asked.rows.rows), asked.views);
  } else {
    counts.owner = read_frames(asked.rows.rows, asked.views, asked.of_slices, asked.memory);
    counts.frames = *counts.owner;
  }
}

void ReadStation::read_part(Range slices) {
  part_.reset();  // so that its memory can be used again
  part_reference_.reset();
  part_rows_ = rows_read(plan_, slices).rows;
  const double of_slices = slices.size();
  part_ = read_frames(part_rows_, {0, plan_.job.views.size()}, of_slices, {});
}

std::shared_ptr<const io::Frames> ReadStation::read_frames(Range rows, Range views, double of_slices,
                                                           std::shared_ptr<io::Frames> into) {
  const Index pixels = views.size() * rows.size() * plan_.job.bins.size();
  const Load load{.slices = of_slices, .bytes = 1.0 * pixels * bytes_of(reader_.info().type)};
  const Stopwatch watch("read", outcome_.seconds.read, watch_.board(), load);
  if (!into) into = std::make_shared<io::Frames>();
  const PinHostMemory pinned(gpus_prepare(plan_.job, plan_.flow) ? plan_.flow.home() : Device::cpu());
  reader_.read(io::FrameKind::projection, in_file(views), rows, plan_.job.bins, *into);
  return into;
}

/// The darks and flats are cut from those of a part if the part was read.
void ReadStation::add_reference(Counts& counts) {
  const auto [rows, above, below, counted] = counts.asked.rows;
  const bool lies_there = counts.frames.data && !counts.owner;
  const Stopwatch clock("read", outcome_.seconds.read, watch_.board(),
                        {.slices = lies_there ? counts.asked.of_slices : 0});
  const auto read = [this](Range some) {
    return read_reference(reader_, some, plan_.job.bins, plan_.job.preprocessing);
  };
  const auto of_part = [&, all = rows] {
    if (!part_reference_) part_reference_ = read(part_rows_);
    const Index factor = plan_.job.rows_together, first = (all.first - part_rows_.first) / factor;
    return crop(*part_reference_, {first, first + all.size() / factor});
  };
  auto reference = std::make_shared<Reference>(has_part(rows) ? of_part() : read(rows));
  reference->margin_above = above;
  reference->margin_below = below;
  reference->counted = counted;
  counts.reference = std::move(reference);
}

Counts ReadStation::get(const Request& asked, const GoingUp& up) {
  const std::lock_guard turn(turn_);
  Request whole = asked, darks_and_flats = asked;
  whole.in_pieces = darks_and_flats.in_pieces = false;
  darks_and_flats.views = {};
  Counts counts = get(darks_and_flats);
  whole.reference = counts.reference;
  for (int k = 0; k < up.projections.shares(); ++k) {
    const Index plane = up.projections.first_plane(k);
    whole.views = {plane, plane + up.projections.share(k).shape()[0]};
    counts.on_gpus.push_back(on_gpu(whole, default_stream(up.work.device()).member(k), up.work));
  }
  counts.asked = asked;
  return counts;
}

GpuFrames ReadStation::on_gpu(const Request& asked, Stream& stream, Work& work) {
  const Index piece = piece_bytes(plan_.flow),
              frame = asked.rows.rows.size() * plan_.job.bins.size() * bytes_of(reader_.info().type);
  const std::vector<Range> blocks = pieces(asked.views, std::max<Index>(1, piece / frame));
  for (auto& half : going_up_) {  // the memory is the same for all chunks, however tall
    const PinHostMemory pinned(stream.device());
    if (!half) half = std::make_shared<io::Frames>();
    half->bytes.reserve(std::max(piece, frame));
  }
  std::optional<GpuFrames> there;
  std::future<void> moved;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    Request some = asked;
    some.views = blocks[k];
    some.of_slices = asked.of_slices * blocks[k].size() / plan_.job.views.size();
    some.memory = going_up_[k % 2];
    const io::FramesView frames = get(some).frames;
    if (!there) there = room_on_gpu(frames, asked.views.size(), stream);
    if (moved.valid()) moved.get();
    moved = std::async(std::launch::async, [&, frames] { work.move_to(*there, frames, stream); });
  }
  moved.get();
  return std::move(*there);
}

}  // namespace tandem::pipeline
