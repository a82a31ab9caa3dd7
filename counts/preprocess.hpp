#pragma once

#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "../core/array.hpp"
#include "../core/ceil_div.hpp"
#include "../io/scans/scan_reader.hpp"
#include "hardening_polynomial.hpp"
#include "reference.hpp"
#include "steps/options.hpp"

namespace tandem::pipeline {

struct Step;  // steps/step.hpp

/// All steps, in their order: those before binning come first.
std::span<const Step> steps();

/// Which rows a step needs beside those that it is asked for, after binning. Rows come in blocks, which begin
/// at multiples of `block`, counted from the first row of the file. A row needs its whole block, and `beside`
/// more rows above and below that.
struct RowMargin {
  Index beside = 0, block = 1;

  /// All rows that some rows need, both counted from the first row of the file. They may reach beyond the
  /// rows that are there.
  Range around(Range rows) const {
    return {rows.first / block * block - beside, ceil_div(rows.last, block) * block + beside};
  }
  /// The margin of this step with another one after it.
  RowMargin then(const RowMargin& next) const {
    return {beside + ceil_div(next.beside, block) * block, std::lcm(block, next.block)};
  }
};

/// How a wave goes on from the sample, mm; 0 for what is not known.
struct Optics {
  double bin_mm = 0, row_mm = 0;                                  ///< pixel at the sample, after binning
  double to_sample_mm = std::numeric_limits<double>::infinity();  ///< from the source
  double to_detector_mm = 0;                                      ///< from the sample
};

/// How the detector of a cone beam stands to an upright one that faces the axis, whose frames the steps make.
struct DetectorPose {
  double roll = 0, tilt = 0;  ///< rad; the detector rolls about the beam, the axis tilts along it
  ConeBeam upright{};         ///< the scan after selection and binning, without its views
  Index first_row = 0;        ///< row of the file that is row 0 of `upright`
};

/// The settings of the steps from counts to line integrals.
struct Preprocessing {
  int binning = 0;
  bool minus_log = true;  ///< else the data are line integrals already
  /// Divide each view by the mean of these bins, or by the line through the means of two such ranges; counted
  /// after selection and binning.
  std::vector<Range> air_bins{};
  double gain = 1;               ///< counts per photon
  bool noise = false;            ///< whether to compute the noise norms
  bool weights = false;          ///< whether to compute the weights of data
  bool keeps_variances = false;  ///< whether to keep their variances instead, as weights need other data, too
  StepValues values{};           ///< what the user gave; the steps read their own numbers from it
  Index bins = 0;                ///< bins of a row after selection and binning; 0 if not known yet
  /// Rows of the file that become one; 0: as many as bins, or 1 if there is one row.
  Index rows_together = 0;
  /// How many rows the image of each view of the file lies towards higher rows, after binning. Empty: none.
  std::vector<double> row_shifts{};
  std::optional<DetectorPose> pose{};  ///< empty: frames stay as they are
  std::optional<double> axis{};        ///< bin of the rotation axis, the same in all rows; empty: not known
  std::optional<Optics> optics{};      ///< empty: steps that need it are left out
  /// Bins that lie behind a beam stop as a whole, and those that it covers in part or as a whole.
  std::vector<Range> shadow_bins{}, covered_bins{};
  std::span<const Step> (*table)() = steps;  ///< the steps that may be asked for
  bool keeps_transmissions = false;          ///< no logarithm is taken of them, for methods that take none
  float photons = 0;  ///< photons of a cell of the file in air, for line integrals; 0: not known
};

/// What preprocessing found in one view of one row, after binning.
struct RowFindings {
  double variance = 0;  ///< summed variance of all line integrals that count
  FloorRange floor{};   ///< transmissions
  bool lost = false;    ///< a row of the file has no finite pixel here; steps on rows leave it out
  bool filled = false;  ///< was lost, and is made of other views: it has no noise of its own
  bool mended = false;  ///< its dead cells have values
};

/// Notes of a step, each with its number of rows, for example {"no stripes", 12}.
using Notes = std::map<std::string, Index>;

/// What preprocessing found.
struct Findings {
  struct OfStep {
    std::string_view name;
    Index replaced;            ///< how many bad values it replaced
    Notes notes = {};          ///< what else it did
    bool only_counts = false;  ///< what it counts as replaced stays as it is
  };
  std::vector<OfStep> steps;       ///< the steps that were done, in their order
  Index reference_replaced = 0;    ///< pixels of flats and darks that steps replaced
  Index reference_not_finite = 0;  ///< pixels of flats and darks that were left out of the means
  Index dead = 0;                  ///< dead cells, which are interpolated in every view
  FloorRange floor{};              ///< transmissions

  Index replaced_by(std::string_view step) const;  ///< 0 for a step that was not done
  void add(const Findings& other);                 ///< adds the findings of other rows
};

/// Line integrals of some rows.
struct LineIntegrals {
  Array y;  ///< (view, row, bin) in the given space
  /// Noise norm of each row, if asked for: sqrt of the summed variance, 1/photons for each datum.
  std::vector<double> noise_norms;
  std::optional<Array> weights = {};  ///< weight of each datum, if asked for (weights.hpp)
};

/// The number of rows after binning that have so many rows of the file, or more.
inline Index rows_with(const Preprocessing& how, Index rows_of_file) {
  return ceil_div(rows_of_file, how.rows_together > 0 ? how.rows_together : Index{1} << how.binning);
}

/// The place of some columns of the file among the selected `bins`, after binning: the bins that lie in them.
/// `option`: their option, and what it should be given, for @throws GeometryError if nothing is left, or if
/// two ranges overlap
struct ColumnsOption {
  std::string name, remedy;
};
std::vector<Range> columns_within(const ColumnsOption& option, const std::vector<Range>& columns, Range bins,
                                  int binning);

/// How many rows after binning the image of each view lies towards higher rows.
std::vector<double> row_shifts_of(const io::ScanInfo& info, Index rows, int binning);

/// The settings from the options that a user gave, for a selection of bins. @throws GeometryError for what
/// does not go together, FileError for a file of an option that cannot be read
Preprocessing preprocessing_of(const StepValues& values, Range bins, int binning, double gain = 1,
                               bool noise = false);

/// Turns counts into line integrals, by the steps of steps/table.cpp. Cells are binned, by their mean,
/// between the steps where the table says so. A scan of one row is binned along its bins only. Each row of
/// each view goes through all steps on rows while it is in the cache. The counts begin and end with the
/// margins of the reference, which are not in `space`. The result for a row depends on the rows beside it
/// only as far as the margin of the steps. The noise norms are those of the bins `counted` of each row, after
/// binning; if `counted` is empty, of all bins. @throws FileError if a row is finite in no view, or if a line
/// integral is not finite
LineIntegrals preprocess(const io::FramesView& counts, const Reference& reference, const Preprocessing& how,
                         const Space& space, Findings& findings, std::span<const Range> counted = {});

/// The values of the steps without beam hardening, and all that is said behind it.
StepValues without_hardening(StepValues values);
/// The correction of beam hardening that is asked for, if any. It is then left out of the steps.
std::optional<HardeningPolynomial> take_hardening(Preprocessing& how);

/// Whether noise norms need the variance of each datum, since a step scales it.
bool noise_is_scaled(const Preprocessing& how);

/// Whether line integrals depend on the position of the axis: if frames are turned upright, or if a step
/// compares both sides of the axis.
bool steps_heed_axis(const Preprocessing& how);

}  // namespace tandem::pipeline
