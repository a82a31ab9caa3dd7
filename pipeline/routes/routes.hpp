#pragma once

#include "../methods/work.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

/// Slices are problems of their own: chunks of a few pass by, and several devices take turns.
Route slices();
/// Slabs of slices are sums over views, which pass in blocks for each slab, as in FDK.
Route views();
/// All slices are one problem, whose vectors lie on one device, on several, or in tiles on the host.
Route whole();
/// All slices are one problem, whose vectors are split over several ranks.
Route ranks();
/// The scan is being written: views are added to the volume as they come.
Route growing();

// What several routes have in common.

/// What a worker takes on each of its devices for its views, and what all take on the host, bytes: CPUs
/// compute there, GPUs may leave it to the host to prepare data.
double bytes_of_worker(const Plan& plan, const Worker& worker, Index slices);
double bytes_of_workers(const Plan& plan, const io::ScanInfo& info, Index slices);
/// What a run takes on the host that reads the scan once, before anything is computed, bytes; `counts`: what
/// counts on their way take.
double bytes_of_whole(const Plan& plan, const io::ScanInfo& info, Index slices, double counts);
/// What volumes take that wait on a GPU, bytes.
double bytes_waiting(const Plan& plan, Index slices);
/// Makes chunks from all their line integrals at once, by the method of the job.
Maker maker_from_all_data(Work& work, ReadStation& read, PrepareStation& prepare);
/// The volume of some slices by a method, on the device of the worker; zero if there are no data.
Array computed(Work& work, const Computation& computation, const Problem& problem,
               std::optional<LineIntegrals> data, Range slices);

}  // namespace tandem::pipeline
