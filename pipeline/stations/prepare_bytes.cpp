#include <algorithm>

#include "../../counts/steps/chain.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/route.hpp"
#include "prepare.hpp"

namespace tandem::pipeline {

namespace {

/// The bytes that mending line integrals takes beside them: two more sets, and volumes.
double mending_bytes(const Job& job, double projections) {
  const ToldByFirst& told = job.options.first;
  return !told.changes_lines() ? 0
                               : 2 * projections + (told.mend ? told.mend->bytes() : 0) +
                                     (told.dense ? told.dense->bytes() : 0);
}

}  // namespace

double preparing_bytes(const Plan& plan, Index slices, Index views) {
  const Job& job = plan.job;
  const Preprocessing& how = job.preprocessing;
  const Index read = rows_with_margins(plan, slices), rows = read / job.rows_together,
              bins = detector_of(job.scan).bins, made = route_of(plan.flow).rows_made(plan, slices);
  const double counts = 4.0 * (views * read * job.bins.size());
  const double projections = 4.0 * (views * made * bins_of(job));
  if (!gpus_prepare(job, plan.flow)) return counts + projections + mending_bytes(job, projections);
  const bool margins = rows > made;
  const double all = 4.0 * (views * rows * bins);
  const double wide = data_sets(job) * (margins ? all : projections);
  // each view may have flats of its own, and their noise
  const double flats = how.noise || how.weights ? 2 : 1;
  const double spans = flats_are_of_views(how.values) ? flats * all : 0;
  return counts + wide + spans + mending_bytes(job, projections) +
         std::max({gpu_bytes_of_steps(how, {views, rows, bins}), gpu_changes_counts(how) ? counts : 0,
                   margins ? projections : 0});
}

double steps_bytes(const Plan& plan, const io::ScanInfo& info, Index views, Index rows_read,
                   Index rows_kept) {
  const Job& job = plan.job;
  if (prepared_on_gpu(plan, info)) return mending_bytes(job, 0);
  const Index rows = rows_read / job.rows_together, bins = detector_of(job.scan).bins;
  const double wide = rows > rows_kept ? 4.0 * data_sets(job) * (views * rows * bins) : 0;
  const double mends = mending_bytes(job, 4.0 * (views * rows_kept * bins));
  return wide + mends +
         bytes_of_steps(job.preprocessing, {views, rows, bins}, {views, rows_read, job.bins.size()});
}

}  // namespace tandem::pipeline
