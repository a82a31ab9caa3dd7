#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "../../counts/gpu_counts.hpp"
#include "../../counts/reference.hpp"
#include "../plan/chunks_due.hpp"
#include "../watch/outcome.hpp"
#include "../watch/progress.hpp"

namespace tandem::pipeline {

struct Work;  // methods/work.hpp

/// The most bytes of the counts of a chunk that are read as a whole before they go up to a GPU; and the bytes
/// of the views that go up together, while the next ones are read, if a chunk is larger.
constexpr Index bytes_read_whole = 256 << 20, bytes_read_at_once = 64 << 20;

/// The rows of the file, and the cells of a frame, that are read for a chunk of some slices, with margins. A
/// chunk that does not begin and end with blocks of the steps may need almost one more block at each end.
Index rows_with_margins(const Plan& plan, Index slices);
double cells_read(const Plan& plan, Index slices);

/// Whether GPUs prepare the counts of a file. Float counts may hold NaN, and only the CPU repairs these.
bool prepared_on_gpu(const Plan& plan, const io::ScanInfo& info);

double counts_bytes(const io::ScanInfo& info, double cells, Index views);
/// The memory, bytes, of the darks and flats of some rows: in `reading` what is added only while they are
/// read, and in `held` what they become. `cells`: the cells of a frame of the file, as read.
struct ReferenceBytes {
  double reading, held;
};
ReferenceBytes reference_bytes(const Job& job, const io::ScanInfo& info, double cells);

/// The bytes of counts that go up to a GPU while the next ones are read, for chunks of some slices; 0: counts
/// are read as a whole. They are if a chunk is small. They are too if they are packed, since a piece of the
/// file might then be unpacked several times, or if the CPU may have to prepare them.
Index bytes_going_up(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The memory, bytes, of the pieces of counts on the host, on their way up. Empty if counts do not go up in
/// pieces.
std::optional<double> bytes_of_pieces(const Plan& plan, const io::ScanInfo& info, Index slices);

/// What is asked of the reader: counts of some views and rows, with the darks and flats of these rows.
struct Request {
  RowsRead rows;         ///< rows of the file, with margins
  Range views;           ///< views of the job; none: only darks and flats are read
  Range slices;          ///< slices that are made of the rows
  double of_slices = 0;  ///< the work on how many slices this is
  bool again = false;    ///< whether the views passed before: what is found in them does not count
  std::shared_ptr<const Reference> reference = {};  ///< darks and flats of the rows, if they were read before
  std::shared_ptr<io::Frames> memory = {};          ///< where counts may lie; empty: in new memory
  /// Whether counts may come in pieces: they are not read before they are asked for with the GPUs to which
  /// they go, the next ones while some go up.
  bool in_pieces = false;
};

/// The request for all views of the rows from which slices are made.
Request request_for(const Plan& plan, Range slices);

/// Where counts go that come in pieces.
struct GoingUp {
  const Space& projections;  ///< its members share the views
  Work& work;
};

/// Counts, with the darks and flats of their rows.
struct Counts {
  Request asked;
  io::FramesView frames = {};                       ///< on the host; no data if they are to come in pieces
  std::shared_ptr<const io::Frames> owner = {};     ///< owner of the frames, unless it is the reader
  std::vector<GpuFrames> on_gpus = {};              ///< in the place of frames
  std::shared_ptr<const Reference> reference = {};  ///< with the margins of the rows
};

/// Reads the scan. All workers share it; any thread may ask.
class ReadStation {
 public:
  ReadStation(io::ScanReader& reader, const Plan& plan, Watch& watch, Outcome& outcome)
      : reader_(reader), plan_(plan), watch_(watch), outcome_(outcome) {}
  /// @throws Error as the reader of the scan does
  Counts get(const Request& asked);
  /// The same of counts that are to come in pieces. Workers take turns, so that the first one can begin soon.
  Counts get(const Request& asked, const GoingUp& up);

 private:
  void add_frames(Counts& counts);
  void add_reference(Counts& counts);
  void read_part(Range slices);
  std::shared_ptr<const io::Frames> read_frames(Range rows, Range views, double of_slices,
                                                std::shared_ptr<io::Frames> into);
  GpuFrames on_gpu(const Request& asked, Stream& stream, Work& work);
  std::optional<io::FramesView> in_memory(const Request& asked);
  Range in_file(Range views) const {
    return {plan_.job.views.first + views.first, plan_.job.views.first + views.last};
  }
  bool has_part(Range rows) const {
    return part_ && part_rows_.first <= rows.first && rows.last <= part_rows_.last;
  }

  io::ScanReader& reader_;
  const Plan& plan_;
  Watch& watch_;
  Outcome& outcome_;
  std::mutex mutex_;                                     ///< guards the reader
  std::mutex turn_;                                      ///< held by the worker whose counts go up
  std::array<std::shared_ptr<io::Frames>, 2> going_up_;  ///< one half is read while the other half goes up
  Range part_rows_;                                      ///< rows of the file in the part that was read last
  std::shared_ptr<const io::Frames> part_;               ///< counts of the part
  std::optional<Reference> part_reference_;              ///< its darks and flats
};

}  // namespace tandem::pipeline
