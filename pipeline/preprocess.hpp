#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "../core/array.hpp"
#include "../io/scan_reader.hpp"
#include "reference.hpp"
#include "steps/options.hpp"

namespace tandem::pipeline {

/// What the steps from counts to line integrals are told.
struct Preprocessing {
  int binning = 0;
  bool minus_log = true;
  std::optional<Range>
      air_bins;         ///< divide each view by the mean of these bins, counted after selection and binning
  double gain = 1;      ///< counts a photon
  bool noise = false;   ///< whether to work out the noise norms
  StepValues values{};  ///< what the user gave; the steps read their own numbers from it
};

/// What was met in one view of one row, after binning.
struct RowFindings {
  double variance = 0;  ///< of all line integrals that count
  float lowest_floor = std::numeric_limits<float>::infinity(), highest_floor = 0;  ///< transmissions
  bool lost = false;  ///< a row of the file has no finite pixel; steps after binning are left out
};

/// What preprocessing met on its way; adds up over chunks.
struct Findings {
  struct OfStep {
    std::string_view name;
    Index replaced;  ///< values that were no good
  };
  std::vector<OfStep> steps;       ///< those done, in their order
  Index reference_not_finite = 0;  ///< pixels of flats and darks left out of their means
  Index dead = 0;                  ///< cells, interpolated in every view
  float lowest_floor = std::numeric_limits<float>::infinity(), highest_floor = 0;  ///< transmissions

  Index replaced_by(std::string_view step) const;  ///< 0 by a step that was not done
};

/// Line integrals of some rows.
struct LineIntegrals {
  Array y;  ///< (view, row, bin) in the given space
  std::vector<double>
      noise_norms;  ///< of each row, if asked for: sqrt of the summed variance, 1/photons for each datum
};

/// What `air` (columns of the file) is among `bins` selected and binned. @throws GeometryError if nothing is
/// left.
std::optional<Range> air_within(const std::optional<Range>& air, Range bins, int binning);

/// With the options that a user gave, for a selection of bins.
Preprocessing preprocessing_of(const StepValues& values, Range bins, int binning, double gain = 1,
                               bool noise = false);

/// Counts to line integrals, by the steps of steps/table.cpp; a mean of cells is taken where the table says
/// that binning is. One row alone is binned along its bins only. Each row of each view goes through all steps
/// while it is in the cache. A row's result does not depend on the rows beside it. The noise norms are those
/// of the bins `counted` of each row, after binning; empty: of all.
/// @throws FileError for a row that is finite in no view, or a line integral that is not
LineIntegrals preprocess(const io::Frames& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted = {});

/// @throws FileError unless the scan has what turns counts into transmission: flats, air columns, or no
/// logarithm.
void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts);

}  // namespace tandem::pipeline
