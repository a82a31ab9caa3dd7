#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "plan.hpp"

namespace tandem::pipeline {

struct Chunk;          // stations/chunk.hpp
struct Work;           // methods/work.hpp
class PrepareStation;  // stations/prepare.hpp
class ReadStation;     // stations/read.hpp

/// Makes the written slices of one chunk after another, on the device of its worker.
class Maker {
 public:
  virtual ~Maker() = default;
  /// (slice, y, x) of the chunk, made on a stream that is this worker's alone. It may change the slices of
  /// the chunk to those that this process has.
  virtual Array operator()(Chunk& chunk, const Stream& stream) = 0;
};

/// A way of data from a scan to a volume. Each has a file in routes/ and a line in its table.
struct Route {
  std::string_view name;
  bool makes_slices_alone;  ///< a few slices cost little, as they need not be made with all others
  bool shares_vectors;      ///< all slices are one problem, whose vectors several devices may share
  bool slices_apart;        ///< each slice is a problem of its own; a small chunk leaves a GPU as a whole
  /// Whether a job goes this way. The first route of the table that takes a job has it.
  bool (*takes)(const Job& job, const Recipe& recipe);
  /// The fewest slices of a chunk, and the rows of the job's scan that are read for some slices; no row if no
  /// ray meets them.
  Index (*fewest_slices)(const Job& job);
  Range (*rows)(const Job& job, Range slices);
  /// How many rows of the job's scan become line integrals at once, for a chunk of some slices.
  Index (*rows_made)(const Plan& plan, Index slices);
  /// Completes the flow: how much passes at a time, within the memory of the recipe.
  void (*choose)(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);
  /// The most memory that chunks of some slices take, bytes: on the host, beside what the program itself
  /// holds; of a worker on each of its devices; and of volumes that wait there. All grow with the slices.
  double (*host_bytes)(const Plan& plan, const io::ScanInfo& info, Index slices);
  double (*worker_bytes)(const Plan& plan, const Worker& worker, Index slices);
  double (*waiting_bytes)(const Plan& plan, Index slices);
  /// What the reader does for a chunk before a worker takes it, and the worker.
  void (*load)(ReadStation& read, Chunk& chunk);
  std::unique_ptr<Maker> (*begin)(Work& work, ReadStation& read, PrepareStation& prepare);
};

/// All routes, in the order in which they are asked.
std::span<const Route> routes();

/// The most memory that chunks of this many slices take, bytes: on the host, beside what the program itself
/// holds, and on a GPU by all its workers.
inline double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices) {
  return plan.flow.route->host_bytes(plan, info, slices);
}
double device_bytes(const Plan& plan, Index slices);

/// The rows of the job's scan from which slices are made: all where a method or a step takes all at once.
inline Range rows_of(const Plan& plan, Range slices) { return plan.flow.route->rows(plan.job, slices); }

/// Whether the slices of a plan are sums over blocks of views that rays of several slices share: rounding
/// depends on the blocks.
inline bool sums_views(const Plan& plan) {
  return plan.flow.views_at_once > 0 && !rows_are_slices(plan.job.scan);
}

}  // namespace tandem::pipeline
