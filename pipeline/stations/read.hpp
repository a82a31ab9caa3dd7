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

/// The most bytes of the counts of a chunk that are read as a whole before they go up to a GPU; and the bytes
/// of the views that go up together, while the next ones are read, if a chunk is larger.
constexpr Index bytes_read_whole = 256 << 20, bytes_read_at_once = 64 << 20;

/// The rows of the file, and the cells of a frame, that are read for a chunk of some slices, with margins. A
/// chunk that does not begin and end with blocks of the steps may need almost one more block at each end.
Index rows_with_margins(const Plan& plan, Index slices);
double cells_read(const Plan& plan, Index slices);

/// Whether GPUs prepare the counts of a file. Float counts may hold NaN, and only the CPU repairs these.
bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info);
/// Whether GPUs prepare the counts, and no CPU helps them.
bool prepared_on_gpu_alone(const Plan& plan, const io::ScanInfo& info);

double counts_bytes(const io::ScanInfo& info, double cells, Index views);
/// The memory, bytes, of the darks and flats of some rows: in `reading` what is added only while they are
/// read, and in `held` what they become. `cells`: the cells of a frame of the file, as read.
struct ReferenceBytes {
  double reading, held;
};
ReferenceBytes reference_bytes(const Job& job, const io::ScanInfo& info, double cells);

/// The value of Flow::bytes_a_piece. Counts of large chunks go up to a GPU while they are read. They do not
/// if they are packed, since a piece of the file might then be unpacked several times. They do not either if
/// the CPU may have to prepare them.
Index bytes_a_piece(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The memory, bytes, of the pieces of counts on the host, on their way up. Empty if counts do not go up in
/// pieces.
std::optional<double> bytes_of_pieces(const Plan& plan, const io::ScanInfo& info, Index slices);

/// Reads the rows from which slices are made. It reads the rows of one chunk at a time, or of a part of the
/// scan that has several chunks, as the plan says.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  /// Reads the counts of a chunk with its flats and darks. Reads nothing if counts go up to a GPU while they
  /// are read.
  void operator()(Chunk& chunk);
  /// Sets `Chunk::is_met`, and returns it.
  bool is_met(Chunk& chunk) const;
  /// Reads only the flats and darks of a chunk whose views pass in blocks.
  void references(Chunk& chunk);
  /// Reads a chunk that came without counts: its flats and darks, and its counts, which go to the GPUs of the
  /// worker as `views` shares them. While some go up, the next ones are read. Workers take turns, so that the
  /// first one can begin soon.
  std::vector<GpuFrames> on_gpus(Chunk& chunk, const Space& views, Work& work);
  /// Reads some rows of the plan's scan with margins, and their flats and darks, as a part of the work on
  /// `of_slices` slices.
  void read_rows(Range rows, double of_slices, Chunk& chunk);
  void read_counts(Chunk& chunk);
  /// The counts of some views (from 0) of these slices, in `memory` or where they lie already. They are a
  /// part of the work on `of_slices` slices. Any thread may call it.
  io::FramesView views(Range slices, Range views, double of_slices, io::Frames& memory);

 private:
  /// The counts of these slices where they lie, and their owner, if that is not the reader.
  std::pair<io::FramesView, std::shared_ptr<const io::Frames>> counts_of(Range slices);
  bool goes_up_in_pieces(Range rows);
  void get_counts(Chunk& chunk);
  void get_reference(Chunk& chunk, const Load& load);
  void read_part(Range slices);
  GpuFrames on_gpu(Range slices, Range views, int member, Work& work);
  bool has_part(Range rows) const {
    return part_ && part_rows_.first <= rows.first && rows.last <= part_rows_.last;
  }
  /// The darks and flats of the rows, cut from those of a part if the part was read.
  Reference reference_of(Range rows);

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  std::mutex mutex_;                         ///< guards the reader
  std::mutex turn_;                          ///< held by the worker whose counts go up
  std::array<io::Frames, 2> going_up_;       ///< one half is read while the other half goes up
  Range part_rows_;                          ///< rows of the file in the part that was read last
  std::shared_ptr<const io::Frames> part_;   ///< counts of the part
  std::optional<Reference> part_reference_;  ///< darks and flats of a part with several chunks
};

}  // namespace tandem::pipeline
