#pragma once

#include "../methods/work.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

// What several routes have in common.

/// The memory, bytes, of a worker on each of its devices for its views; and of all workers on the host. CPUs
/// compute on the host, and for GPUs the host may prepare the data.
double bytes_of_worker(const Plan& plan, const Worker& worker, Index slices);
double bytes_of_workers(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The memory on the host, bytes, of a run that reads the whole scan before anything is computed. `counts`:
/// the bytes of the counts on their way, or as `whole` has them.
double bytes_of_whole(const Plan& plan, const io::ScanInfo& info, Index slices, double counts);
double whole_on_host(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The same of a run whose chunks are read one after another.
double bytes_of_chunks(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The memory of volumes that wait on a GPU, bytes.
double bytes_waiting(const Plan& plan, Index slices);
/// Makes chunks from all their line integrals at once, by the method of the job.
Maker maker_from_all_data(Work& work, ReadStation& read, PrepareStation& prepare);
/// The volume of some slices by a method, on the device of the worker; zero if there are no data.
Array computed(Work& work, const Computation& computation, const Problem& problem,
               std::optional<LineIntegrals> data, Range slices);

}  // namespace tandem::pipeline
