#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "../core/array.hpp"
#include "../io/scan_reader.hpp"

namespace tandem::pipeline {

/// Mean dark and flat of some rows, each over the frames in which a pixel is finite, and what they say about
/// each cell. (row, bin), after binning.
struct Reference {
  Index rows = 0, bins = 0;
  Index first_row = 0, rows_together = 1;  ///< of the file; how many of them are one row
  bool flats = false;                      ///< whether there are any; else span is 1
  std::vector<float> dark, span;           ///< span = flat - dark, 0 in dead cells
  std::vector<float>
      flat_variance;         ///< of the log of the flat: 1 / photons in all flats together; 0 without flats
  std::vector<char> counts;  ///< of each row: whether its flats are counts, with a median above 2
  Index dead = 0;            ///< cells whose flat is not above their dark, or in no frame finite
  Index not_finite = 0;      ///< pixels of flats and darks that were left out
  Index file_row(Index row) const { return first_row + row * rows_together; }
};

struct Preprocessing {
  int binning = 0;
  bool minus_log = true;
  std::optional<Range>
      air_bins;        ///< divide each view by the mean of these bins, counted after selection and binning
  double gain = 1;     ///< counts a photon
  bool noise = false;  ///< whether to work out the noise norms
};

/// What preprocessing met in one view of one row.
struct RowFindings {
  Index not_finite = 0, floored = 0;
  double variance = 0;
  float lowest_floor = std::numeric_limits<float>::infinity(), highest_floor = 0;
  bool finite = true;
};

/// What preprocessing met on its way; adds up over chunks.
struct Findings {
  Index not_finite = 0;            ///< pixels replaced by the mean of their good neighbours in the row
  Index reference_not_finite = 0;  ///< pixels of flats and darks left out of their means
  Index dead = 0;                  ///< cells, interpolated in every view
  Index floored = 0;               ///< transmissions below the floor before the logarithm
  float lowest_floor = std::numeric_limits<float>::infinity(), highest_floor = 0;  ///< transmissions
  void add(const RowFindings& row);
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
/// @throws FileError for a row without a good cell: no bin is there to fill it from, and rows beside it are
/// other slices.
Reference read_reference(io::ScanReader& reader, Range rows, Range bins, const Preprocessing& how);

/// Counts to line integrals: bin, subtract the dark, divide by the flat, then by the air columns' mean in
/// each view if there are any (the beam's drift), replace dead and non-finite cells by interpolation along
/// the row, floor, -log. One row alone is binned along its bins only. The floor is half a count, 1 / (2 (flat
/// - dark)) in transmission, whatever the type of the data; where a row's flats (without flats, its air) are
/// not above 2, its data are transmissions and no counts, and the floor is 1e-6. A row's result does not
/// depend on the rows beside it. @throws FileError for a row that is finite in no view, or a line integral
/// that is not. The noise norms are those of the bins `counted` of each row, after binning; empty: of all
LineIntegrals preprocess(const io::Frames& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted = {});

/// @throws FileError unless the scan has what turns counts into transmission: flats, air columns, or no
/// logarithm.
void require_reference(const io::ScanInfo& info, const Preprocessing& how, bool needs_counts);

}  // namespace tandem::pipeline
