#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "../methods/work.hpp"
#include "../watch/station_board.hpp"
#include "chunk.hpp"

namespace tandem::pipeline {

/// Bytes of the counts of a chunk that are read as a whole before they go up to a GPU, at most, and of views
/// of a larger one that go up together, while the next ones are read.
constexpr Index bytes_read_whole = 256 << 20, bytes_read_at_once = 64 << 20;

/// What is read for a chunk of some slices, with margins: rows of the file, and cells of a frame. A chunk
/// that does not begin and end with blocks of the steps may need almost one more at each end.
Index rows_with_margins(const Plan& plan, Index slices);
double cells_read(const Plan& plan, Index slices);

/// Whether GPUs prepare the counts of a file. Float counts may hold NaN, and only the CPU repairs these.
bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info);
/// Whether no CPU helps them.
bool prepared_on_gpu_alone(const Plan& plan, const io::ScanInfo& info);

/// What the counts of some views take, bytes.
double counts_bytes(const io::ScanInfo& info, double cells, Index views);
/// What the darks and flats of some rows take, bytes: while they are read, beside what they become, and then.
/// `cells`: of a frame of the file, as read.
struct ReferenceBytes {
  double reading, held;
};
ReferenceBytes reference_bytes(const Job& job, const io::ScanInfo& info, double cells);

/// See Flow::bytes_a_piece. Counts of large chunks go up to a GPU while they are read. They do not if they
/// are packed, since a piece of the file may then have to be unpacked several times, nor if the CPU may have
/// to prepare them.
Index bytes_a_piece(const Plan& plan, const io::ScanInfo& info, Index slices);
/// What pieces of counts on their way up hold on the host, bytes; empty if counts do not go up in pieces.
std::optional<double> bytes_of_pieces(const Plan& plan, const io::ScanInfo& info, Index slices);

/// Reads the rows from which slices are made: of one chunk, or of as many as the plan says at once, of which
/// the chunks are parts.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  /// The counts of a chunk with its flats and darks; nothing if they go up to a GPU while they are read.
  void operator()(Chunk& chunk);
  /// Notes whether rays meet a chunk, and says so.
  bool is_met(Chunk& chunk) const;
  /// The flats and darks alone of a chunk whose views pass in blocks.
  void references(Chunk& chunk);
  /// Of a chunk that came without counts: its flats and darks, and its counts on each GPU of the worker,
  /// which shares them as `views` does. While some go up, the next ones are read. One worker after the other
  /// has its turn, so that the first one can begin soon.
  std::vector<GpuFrames> on_gpus(Chunk& chunk, const Space& views, Work& work);
  /// Some rows of the plan's scan, with flats and darks and with margins, for a chunk of so many slices.
  void read_rows(Range rows, double of_slices, Chunk& chunk);
  /// Its counts, on the host.
  void read_counts(Chunk& chunk);
  /// The counts of some views (from 0) of these slices, in `memory` or where they lie. They are read as a
  /// part of this many slices. Any thread may call it.
  io::FramesView views(Range slices, Range views, double of_slices, io::Frames& memory);

 private:
  /// The counts of these slices where they lie; their owner, if that is not the reader.
  std::pair<io::FramesView, std::shared_ptr<const io::Frames>> counts_of(Range slices);
  bool goes_up_in_pieces(Range rows);
  void get_counts(Chunk& chunk);
  void get_reference(Chunk& chunk, const Load& load);
  void read_part(Range slices);
  GpuFrames on_gpu(Range slices, Range views, int member, Work& work);
  bool has_part(Range rows) const {
    return part_ && part_rows_.first <= rows.first && rows.last <= part_rows_.last;
  }
  /// The darks and flats of the rows, from those of the part if that was read.
  Reference reference_of(Range rows);

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  std::mutex mutex_;                         ///< of the reader
  std::mutex turn_;                          ///< of the worker whose counts go up
  std::array<io::Frames, 2> going_up_;       ///< one is read while the other one goes up
  Range part_rows_;                          ///< of the file, that were read last
  std::shared_ptr<const io::Frames> part_;   ///< their counts
  std::optional<Reference> part_reference_;  ///< of a part of several chunks
};

}  // namespace tandem::pipeline
