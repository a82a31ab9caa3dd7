#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "../../core/array.hpp"
#include "plan.hpp"

namespace tandem::pipeline {

struct Chunk;          // stations/chunk.hpp
struct Work;           // methods/work.hpp
class PrepareStation;  // stations/prepare.hpp
class ReadStation;     // stations/read.hpp

/// Makes the slices of one chunk after another, (slice, y, x), on the device of its worker and on a stream
/// that no other worker uses. It may reduce the slices of the chunk to those that this process has.
using Maker = std::function<Array(Chunk& chunk, const Stream& stream)>;

/// How slices belong together.
enum class Slices {
  apart,   ///< each is a problem of its own; a small chunk leaves a GPU as a whole
  sums,    ///< each is a sum over views, so that a few cost little
  slabs,   ///< neighbours share what they are made of, and rows: one costs nearly as much as many
  as_one,  ///< all are one problem, whose vectors several devices may share
};

/// The number of all slices; and all rows, or none if no ray meets the volume.
Index all_slices(const Job& job);
Range all_rows(const Job& job, Range slices);

/// A way of data from a scan to a volume. Each route has a file in routes/ and a line in its table.
struct Route {
  std::string_view name;
  Slices slices;
  /// Whether this route takes a job. A job goes along the first route of the table that takes it.
  bool (*takes)(const Job& job, const Recipe& recipe);
  /// The fewest slices that a chunk can have; and the rows of the job's scan that are read for some slices,
  /// none if no ray meets these.
  Index (*fewest_slices)(const Job& job) = all_slices;
  Range (*rows)(const Job& job, Range slices) = all_rows;
  /// The number of rows of the job's scan that become line integrals at once, for a chunk of some slices.
  Index (*rows_made)(const Plan& plan, Index slices) = [](const Plan& plan, Index) {
    return detector_of(plan.job.scan).rows;
  };
  /// Completes the flow: how much passes at a time, within the memory of the recipe.
  void (*choose)(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);
  /// The most memory that chunks of some slices take, bytes. `host_bytes` is on the host, beside what the
  /// program itself holds. `worker_bytes` is what a worker takes on each of its devices. `waiting_bytes` is
  /// what volumes that wait there take; null if none wait. All grow with the slices. They are null for a
  /// route without chunks.
  double (*host_bytes)(const Plan& plan, const io::ScanInfo& info, Index slices) = nullptr;
  double (*worker_bytes)(const Plan& plan, const Worker& worker, Index slices) = nullptr;
  double (*waiting_bytes)(const Plan& plan, Index slices) = nullptr;
  /// `load` is the reader's work for a chunk, before a worker takes it. `begin` returns the function that
  /// makes slices for a worker.
  void (*load)(ReadStation& read, Chunk& chunk) = nullptr;
  Maker (*begin)(Work& work, ReadStation& read, PrepareStation& prepare) = nullptr;
};

/// All routes, in the order in which they are asked whether they take a job.
std::span<const Route> routes();

/// The most memory that chunks of this many slices take, bytes: on the host, beside what the program itself
/// holds; and on a GPU, for all its workers.
inline double host_bytes(const Plan& plan, const io::ScanInfo& info, Index slices) {
  return plan.flow.route->host_bytes(plan, info, slices);
}
double device_bytes(const Plan& plan, Index slices);

/// The rows of the job's scan from which slices are made. All rows, if a method or a step takes all at once.
inline Range rows_of(const Plan& plan, Range slices) { return plan.flow.route->rows(plan.job, slices); }

/// Whether the slices of a plan are sums over blocks of views, and rays cross several slices. Then rounding
/// depends on the blocks.
inline bool sums_views(const Plan& plan) {
  return plan.flow.views_at_once > 0 && !rows_are_slices(plan.job.scan);
}

}  // namespace tandem::pipeline
