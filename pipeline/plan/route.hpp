#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "../../core/array.hpp"
#include "plan.hpp"

namespace tandem::pipeline {

struct Chunk;          // stations/chunk.hpp
struct Work;           // methods/work.hpp
class PrepareStation;  // stations/prepare.hpp
class ReadStation;     // stations/read.hpp
struct Request;        // stations/read.hpp

/// Makes the slices of one chunk after another, (slice, y, x), on the device of its worker and on a stream
/// that no other worker uses. It may reduce the slices of the chunk to those that this process has.
using Maker = std::function<Array(Chunk& chunk, const Stream& stream)>;

/// The number of all slices; and all rows, or none if no ray meets the volume.
Index all_slices(const Job& job);
Range all_rows(const Job& job, Range slices);
/// The rows that line integrals of some slices have: theirs, or all, with those beyond the detector that a
/// filter needs.
Index slices_or_all_rows(const Plan& plan, Index slices);

/// All views of the rows from which slices are made.
std::optional<Request> requested_rows(const Plan& plan, Range slices);

/// A way of data from a scan to a volume. Each route has a file in routes/ and a line in its table.
struct Route {
  std::string_view name;
  RouteSizes sizes;  ///< sizes of this route, still to be chosen

  /// Whether all slices are one problem, whose vectors several devices may share. One worker makes it.
  bool one_problem = false;
  /// Whether each slice is a problem of its own: chunks may begin small and end at blocks of steps, and small
  /// ones leave a GPU whole.
  bool slices_apart = false;
  /// Whether some slices cost only their share of the whole: then a range is found in these.
  bool cheap_slices = false;
  bool own_rows = false;  ///< whether each chunk is read by itself; else all rows come with the first one

  /// Whether this route takes a job. A job goes along the first route of the table that takes it.
  bool (*takes)(const Job& job, const Recipe& recipe);
  /// The fewest slices that a chunk can have; and the rows of the job's scan that are read for some slices,
  /// none if no ray meets these.
  Index (*fewest_slices)(const Job& job) = all_slices;
  Range (*rows)(const Job& job, Range slices) = all_rows;
  /// For a chunk of some slices, the rows of the job's scan that become line integrals at once; and the rows
  /// that these have in vectors.
  Index (*rows_made)(const Plan& plan, Index slices) = [](const Plan& plan, Index) {
    return detector_of(plan.job.scan).rows;
  };
  Index (*rows_held)(const Plan& plan, Index slices) = slices_or_all_rows;
  /// Completes the flow within the memory of the recipe: the sizes, the slices of a chunk, fewer workers if
  /// there are too many, and the memory (`Room`).
  void (*choose)(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);
  /// The most memory that chunks of some slices take, bytes. `host_bytes` is on the host, beside what the
  /// program itself holds. `worker_bytes` is what a worker takes on each of its devices. `waiting_bytes` is
  /// what volumes that wait there take. All grow with the slices.
  double (*host_bytes)(const Plan& plan, const io::ScanInfo& info, Index slices);
  double (*worker_bytes)(const Plan& plan, const Worker& worker, Index slices);
  double (*waiting_bytes)(const Plan& plan, Index slices) = [](const Plan&, Index) { return 0.0; };
  /// `request` is what is read for a chunk before a worker takes it; nothing, if no ray meets the slices.
  /// `begin` returns the function that makes slices for a worker.
  std::optional<Request> (*request)(const Plan& plan, Range slices) = requested_rows;
  Maker (*begin)(Work& work, ReadStation& read, PrepareStation& prepare);
};

/// All routes, in the order in which they are asked whether they take a job.
std::span<const Route> routes();
/// The route of a flow.
const Route& route_of(const Flow& flow);

/// The most memory that chunks of this many slices take, bytes: on the host, beside what the program itself
/// holds; and on a GPU, for all its workers.
inline double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices) {
  return route_of(plan.flow).host_bytes(plan, info, slices);
}
double device_bytes(const Plan& plan, Index slices);

/// The rows of the job's scan from which slices are made. All rows, if a method or a step takes all at once.
inline Range rows_of(const Plan& plan, Range slices) { return route_of(plan.flow).rows(plan.job, slices); }

/// Whether the slices of a plan are sums over blocks of views, and rays cross several slices. Then rounding
/// depends on the blocks.
inline bool sums_views(const Plan& plan) {
  return block_views(plan.flow) > 0 && !rows_are_slices(plan.job.scan);
}

}  // namespace tandem::pipeline
