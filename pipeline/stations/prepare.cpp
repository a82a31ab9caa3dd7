#include "prepare.hpp"

#include <sstream>
#include <utility>

#include "../../core/error.hpp"
#include "../methods/method.hpp"
#include "../problem.hpp"
#include "../row_axes.hpp"
#include "../stopwatch.hpp"
#include "../warn.hpp"

namespace tandem::pipeline {

namespace {

std::string floor_words(const Findings& met) {
  std::ostringstream text;
  text << "the floor before the logarithm, " << met.lowest_floor;
  if (met.highest_floor > met.lowest_floor) text << " to " << met.highest_floor;
  return text.str();
}

}  // namespace

PrepareStation::PrepareStation(const io::ScanInfo& info, const Plan& plan, Watch& watch, Outcome& outcome)
    : plan_(plan), watch_(watch), outcome_(outcome) {
  require_reference(info, plan.preprocessing, plan.options.stop_by_discrepancy);
}

void PrepareStation::operator()(Chunk& chunk) {
  if (!chunk.counts) return;
  const Stopwatch watch("preprocess", outcome_.seconds.preprocess);
  const auto first = static_cast<double>(chunk.slices.first);
  watch_.reading({"preprocess", first});
  const Scan scan = scan_of(plan_, chunk.slices);
  chunk.data = preprocess(chunk.counts->projections, chunk.counts->reference, plan_.preprocessing,
                          projection_space(scan), outcome_.findings, bins_kept(scan));
  require_mostly_good();
  // of opposite rays, by FDK's filter or a solver; FBP of a parallel beam does not
  const bool weighs_bins = !rows_are_slices(plan_.scan) || !plan_.method->filters;
  ends_.look_at(chunk.data->y, plan_.scan, weighs_bins && half_acquisition(plan_.scan));
  chunk.counts.reset();
  watch_.reading({"", first});
}

/// Above 1 % of what was selected, filling in is no repair; nor is it where half the cells are dead, or
/// more is floored than allowed.
void PrepareStation::require_mostly_good() const {
  const Findings& met = outcome_.findings;
  const double cells = static_cast<double>(plan_.rows.size()) * static_cast<double>(plan_.bins.size());
  const double selected = static_cast<double>(plan_.views.size()) * cells;
  const Index not_finite = met.replaced_by("not-finite"), floored = met.replaced_by("minus-log");
  require<FileError>(static_cast<double>(not_finite) <= 0.01 * selected, "projections: ", not_finite,
                     " pixels are not finite, more than 1 % of ", selected,
                     "; repair or leave out those views");
  const auto binned = static_cast<double>(plan_.rows_together << plan_.preprocessing.binning);
  require<FileError>(2 * static_cast<double>(met.dead) * binned < cells, "flats: at least ", met.dead, " of ",
                     cells / binned, " cells are not above their dark; check --flats and --darks");
  const double percent = plan_.max_floored_percent;
  require<FileError>(static_cast<double>(floored) <= 0.01 * percent * selected / binned,
                     "projections: at least ", floored, " of ", selected / binned,
                     " transmissions are below ", floor_words(met), ", more than ", percent,
                     " %; check --flats and --darks, or give --max-floored PERCENT");
}

void PrepareStation::finish() {
  if (std::string text = ends_.warning(); !text.empty()) outcome_.warnings.push_back(std::move(text));
  const Findings& met = outcome_.findings;
  if (met.reference_not_finite > 0)
    warn(outcome_.warnings, "flats and darks: ", met.reference_not_finite,
         " pixels are not finite, and are left out of the means");
  if (const Index floored = met.replaced_by("minus-log"); floored > 0)
    warn(outcome_.warnings, "projections: ", floored, " transmissions were below ", floor_words(met),
         ", and were raised to it");
}

}  // namespace tandem::pipeline
