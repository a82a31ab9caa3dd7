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

/// What preparing holds on a GPU for some views of a chunk, bytes: counts, of the widest type, once more if
/// steps change them; line integrals and weights, with margins before these are cut off; what steps hold; and
/// flats.
double preparing_bytes(const Plan& plan, Index slices, Index views);
/// What steps hold on the host beside counts and line integrals, bytes: their own memory, and rows with
/// margins before these are cut off.
double steps_bytes(const Plan& plan, const io::ScanInfo& info, Index views, Index rows_read, Index rows_kept);

/// Turns counts into line integrals and checks whether the data lack something. All workers share it.
class PrepareStation {
 public:
  /// @throws GeometryError or FileError if the scan lacks what is needed to turn counts into line integrals
  PrepareStation(const io::ScanInfo& info, const Plan& plan);
  /// The line integrals of a chunk, on the GPU of the worker if that can make them, else on the CPU; empty if
  /// no counts came with it.
  std::optional<LineIntegrals> operator()(Chunk& chunk, ReadStation& read, Work& work);
  /// Those of this rank's views, where vectors lie on several ranks; all ranks.
  std::optional<LineIntegrals> of_own_views(Chunk& chunk, const Space& projections, ReadStation& read,
                                            Work& work);
  /// Those of a block of views. They make a part of the work on this many slices. What is found in the
  /// reference counts with the `first` block only.
  Array block(const io::FramesView& counts, const Reference& reference, const Scan& views, double of_slices,
              bool first, Work& work);
  /// Makes those of all views on the CPU, once for all chunks, for steps that need all at once.
  void make_all(const Chunk& chunk, ReadStation& read, Work& work);
  /// Some of them, (view, row, bin) in this space.
  Array some_of_all(Range views, const Space& space, Work& work) const;
  /// Takes note of what was found in some data, and looks whether line integrals come down to air. @throws
  /// FileError if too much was replaced
  void add(const Findings& found);
  /// `rows`: of the plan's scan, that the data have; none for methods that are no solvers.
  void look_at(const Array& y, Range rows);
  /// All ranks: the first one gets what all found, and what they did. @throws FileError if all together
  /// replaced too much
  void add_ranks(const Comm& ranks, Outcome& outcome);
  /// Adds findings and warnings, after all data have passed.
  void finish(Outcome& outcome) const;

 private:
  /// What counts of a scan become, which make a part of the work on this many slices.
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
  /// A large chunk keeps a GPU busy by itself: one after the other, so that the first one is done soon.
  std::map<Device, std::mutex> of_large_chunks_;
  std::optional<Array> all_;  ///< line integrals
  Findings findings_;
  OpenEnds ends_;
};

}  // namespace tandem::pipeline
