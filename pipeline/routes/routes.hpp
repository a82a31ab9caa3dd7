#pragma once

#include "../methods/work.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

/// The route of slices that are problems of their own. They pass in chunks, which several devices take in
/// turn.
Route slices();
/// The route of slabs that are sums over views, as in FDK. The views pass in blocks for each slab.
Route views();
/// The route of FDK by groups of views. Each slab is a problem of its own, and devices take slabs in turn.
Route slabs();
/// The route of slices that are one problem. Its vectors lie on one device, on several, or in tiles on the
/// host.
Route whole();
/// The route of slices that are one problem, if its vectors are split over several ranks.
Route ranks();
/// The route of a scan that is being written: views are added to the volume as they come.
Route growing();

// What several routes have in common.

/// The memory, bytes, of a worker on each of its devices for its views; and of all workers on the host. CPUs
/// compute on the host, and for GPUs the host may prepare the data.
double bytes_of_worker(const Plan& plan, const Worker& worker, Index slices);
double bytes_of_workers(const Plan& plan, const io::ScanInfo& info, Index slices);
/// The memory on the host, bytes, of a run that reads the whole scan before anything is computed. `counts`:
/// the bytes of the counts on their way.
double bytes_of_whole(const Plan& plan, const io::ScanInfo& info, Index slices, double counts);
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
