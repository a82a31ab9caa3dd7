#include <algorithm>

#include "../../counts/steps/chain.hpp"
#include "../methods/vector_bytes.hpp"
#include "../plan/route.hpp"
#include "prepare.hpp"

namespace tandem::pipeline {

double preparing_bytes(const Plan& plan, Index slices, Index views) {
  const Job& job = plan.job;
  const Preprocessing& how = job.preprocessing;
  const Index read = rows_with_margins(plan, slices), rows = read / job.rows_together,
              bins = detector_of(job.scan).bins, made = route_of(plan.flow).rows_made(plan, slices);
  const double counts = 4.0 * (views * read * job.bins.size());
  const double projections = 4.0 * (views * made * bins_of(job));
  if (!gpus_prepare(job, plan.flow)) return counts + projections;
  const bool margins = rows > made;
  const double all = 4.0 * (views * rows * bins);
  const double wide = data_sets(job) * (margins ? all : projections);
  // each view may have flats of its own, and their noise
  const double flats = how.noise || how.weights ? 2 : 1;
  const double spans = flats_are_of_views(how.values) ? flats * all : 0;
  return counts + wide + spans +
         std::max({gpu_bytes_of_steps(how, {views, rows, bins}), gpu_changes_counts(how) ? counts : 0,
                   margins ? projections : 0});
}

double steps_bytes(const Plan& plan, const io::ScanInfo& info, Index views, Index rows_read,
                   Index rows_kept) {
  if (prepared_on_gpu(plan, info)) return 0;
  const Job& job = plan.job;
  const Index rows = rows_read / job.rows_together, bins = detector_of(job.scan).bins;
  const double wide = rows > rows_kept ? 4.0 * data_sets(job) * (views * rows * bins) : 0;
  return wide + bytes_of_steps(job.preprocessing, {views, rows, bins}, {views, rows_read, job.bins.size()});
}

}  // namespace tandem::pipeline
