#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "../../core/comm.hpp"
#include "../../counts/hardening_polynomial.hpp"
#include "../../counts/open_ends.hpp"
#include "../methods/work.hpp"
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
  PrepareStation(ReadStation& read, const io::ScanInfo& info, const Plan& plan);
  /// Begins to keep rows that tell of the beam.
  void watch_beam() { beam_.emplace(plan_.job); }
  /// The line integrals of counts, whose views `scan` has, and whose rows are these of the plan's scan. The
  /// GPUs of `device` make them if they can, else the CPU. What is found in the darks and flats counts with
  /// the first view. @throws FileError if too much was replaced
  LineIntegrals make(Counts counts, const Scan& scan, Range rows, Device device, Work& work);
  /// What the first call made, for chunks that share the line integrals of all views.
  const Array& made_once(const std::function<Array()>& make);
  /// Looks whether the line integrals fall to those of air at the ends of the rows. `rows`: the rows of the
  /// plan's scan that the data have; none for methods that are no solvers.
  void look_at(const Array& y, Range rows);
  /// Collective. The first rank gets what all ranks found and did. @throws FileError if all together replaced
  /// too much
  void add_ranks(const Comm& ranks, Outcome& outcome);
  /// Adds findings and warnings, after all data have passed.
  void finish(Outcome& outcome) const;

 private:
  /// How counts become line integrals in `space`.
  struct Task {
    const Counts& counts;
    const Scan& scan;
    Space space;
    Work& work;
    Findings& found;
  };
  std::optional<LineIntegrals> on_gpus(const std::vector<GpuFrames>& counts, const Task& task) const;
  LineIntegrals on_cpu(const Task& task) const;
  std::optional<LineIntegrals> by_gpus(const std::vector<GpuFrames>& counts, const Task& task) const;
  void mend(Array& y, const Scan& scan, Range rows) const;
  void add(const Findings& found);
  void require_mostly_good() const;
  std::string cause_of_open_ends() const;

  ReadStation& read_;
  const Plan& plan_;
  Preprocessing how_;  ///< where metal is mended, beam hardening is corrected after that
  std::optional<HardeningPolynomial> hardening_;
  std::mutex mutex_, making_;
  /// A lock for each GPU. A large chunk keeps a GPU busy by itself, so large chunks are prepared one after
  /// the other, and the first one is done soon.
  std::map<Device, std::mutex> of_large_chunks_;
  std::optional<Array> made_;  ///< once
  Findings findings_;
  OpenEnds ends_;
  std::optional<BeamRows> beam_;
};

}  // namespace tandem::pipeline
