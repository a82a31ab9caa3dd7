#pragma once

#include <vector>

#include "tandem/core/array.hpp"
#include "tandem/io/scan_reader.hpp"

namespace tandem::pipeline {

/// Mean dark and flat of some rows, and what they say about each cell. (row, bin), after binning.
struct Reference {
  Index rows = 0, bins = 0;
  std::vector<float> dark, span;  ///< span = flat - dark, 0 in dead cells
  std::vector<float>
      flat_variance;     ///< of the log of the flat: 1 / photons in all flats together; 0 without flats
  Index dead = 0;        ///< cells whose flat is not above their dark
  Index not_finite = 0;  ///< pixels of flats and darks that were replaced
};

struct Preprocessing {
  int binning = 0;
  bool minus_log = true;
  std::optional<Range>
      air_bins;        ///< no flats: divide by the mean of these bins, counted after selection and binning
  double gain = 1;     ///< counts a photon
  bool noise = false;  ///< whether to work out the noise norms
};

/// What preprocessing met on its way; adds up over chunks.
struct Findings {
  Index not_finite = 0;  ///< pixels replaced by the mean of their good neighbours in the row
  Index dead = 0;        ///< cells, interpolated in every view
  Index floored = 0;     ///< transmissions at or below the floor before the logarithm
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

/// Darks and flats of `rows`; without flats or darks the spans are 1 and the darks 0.
Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how);

/// Counts to line integrals: bin, subtract the dark, divide by the flat, replace dead and non-finite cells by
/// interpolation along the row, floor, -log. The floor is half a count for integers, at least 1e-6 of the
/// flat. A row's result does not depend on the rows beside it.
LineIntegrals preprocess(const io::Frames& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings);

/// @throws FileError unless the scan has what turns counts into transmission: flats, air columns, or no
/// logarithm.
void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts);

}  // namespace tandem::pipeline
