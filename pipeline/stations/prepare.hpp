#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../../core/comm.hpp"
#include "../../counts/open_ends.hpp"
#include "../methods/work.hpp"
#include "chunk.hpp"
#include "read.hpp"

namespace tandem::pipeline {

/// The memory, bytes, that preparation takes on a GPU for some views of a chunk. It holds counts of the
/// widest type, twice if steps change them; line integrals and weights with their margins; the memory of
/// steps; and flats.
double preparing_bytes(const Plan& plan, Index slices, Index views);
/// The memory, bytes, that steps take on the host beside counts and line integrals: their own, and the rows
/// of margins before these are cut off.
double steps_bytes(const Plan& plan, const io::ScanInfo& info, Index views, Index rows_read, Index rows_kept);

/// Turns counts into line integrals, and checks whether the data lack something. All workers share it.
class PrepareStation {
 public:
  /// @throws GeometryError or FileError if the scan lacks what is needed to turn counts into line integrals
  PrepareStation(const io::ScanInfo& info, const Plan& plan);
  /// The line integrals of a chunk. The GPU of the worker makes them if it can, else the CPU. Empty if no
  /// counts came with the chunk.
  std::optional<LineIntegrals> operator()(Chunk& chunk, ReadStation& read, Work& work);
  /// Collective. The line integrals of this rank's views, if vectors are split over ranks.
  std::optional<LineIntegrals> of_own_views(Chunk& chunk, const Space& projections, ReadStation& read,
                                            Work& work);
  /// The line integrals of a block of views. They make a part of the work on `of_slices` slices. Findings in
  /// the reference are counted with the `first` block only.
  Array block(const io::FramesView& counts, const Reference& reference, const Scan& views, double of_slices,
              bool first, Work& work);
  /// Makes the line integrals of all views on the CPU, once for all chunks, for steps that need all at once.
  void make_all(const Chunk& chunk, ReadStation& read, Work& work);
  /// Some views of what `make_all` made, (view, row, bin) in this space.
  Array some_of_all(Range views, const Space& space, Work& work) const;
  /// Adds what was found in some data. @throws FileError if too much was replaced
  void add(const Findings& found);
  /// Looks whether the line integrals fall to those of air at the ends of the rows. `rows`: the rows of the
  /// plan's scan that the data have; none for methods that are no solvers.
  void look_at(const Array& y, Range rows);
  /// Collective. The first rank gets what all ranks found and did. @throws FileError if all together replaced
  /// too much
  void add_ranks(const Comm& ranks, Outcome& outcome);
  /// Adds findings and warnings, after all data have passed.
  void finish(Outcome& outcome) const;

 private:
  /// A part of the work on `of_slices` slices: how the counts of a scan become line integrals.
  struct Task {
    const Reference& reference;
    const Scan& scan;
    double of_slices;
    Work& work;
    Findings& found;
  };
  LineIntegrals line_integrals(const io::FramesView& counts, const Task& task) const;
  std::optional<LineIntegrals> on_gpus(const std::vector<GpuFrames>& counts, const Task& task) const;
  LineIntegrals on_cpu(const io::FramesView& counts, const Task& task) const;
  std::optional<LineIntegrals> by_gpus(const std::vector<GpuFrames>& counts, const Task& task) const;
  void require_mostly_good() const;
  std::string cause_of_open_ends() const;

  const Plan& plan_;
  std::mutex mutex_, making_;
  /// A lock for each GPU. A large chunk keeps a GPU busy by itself, so large chunks are prepared one after
  /// the other, and the first one is done soon.
  std::map<Device, std::mutex> of_large_chunks_;
  std::optional<Array> all_;  ///< line integrals
  Findings findings_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
