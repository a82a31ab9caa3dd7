#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "complete.hpp"

namespace tandem::pipeline {

/// Line integrals (view, row, bin) of some views, in ranges one behind the other, and rows, all selected
/// bins. Beam hardening is not corrected if its correction is still to be found.
std::vector<float> line_integrals(io::ScanReader& reader, const Recipe& recipe,
                                  const std::vector<Range>& views, const std::vector<Index>& chosen,
                                  const Listener& listener);

/// The scan with the axis of the recipe, else of the file, else in the middle of the detector; selected views
/// and bins, and these rows.
Scan scan_of_rows(const Recipe& recipe, const io::ScanInfo& info, const Selection& s, Range rows);

/// The rows that tell the hardening of a beam, as they were measured.
struct TellingRows {
  std::string_view why_not{};  ///< a few words, if there are none
  std::vector<Index> rows{};   ///< rows of the file
  Scan scan{};                 ///< with the rows from the first to the last of these
  std::vector<float> lines{};  ///< line integrals (view, row, bin)
  calibration::LinesOf made_of{};
};
/// `of_first`: only rows that a first volume has.
TellingRows rows_that_tell(io::ScanReader& reader, const Recipe& recipe, bool of_first,
                           const Listener& listener);

/// Mends them, if metal was found.
void mend_rows(TellingRows& rows, const ToldByFirst& told);

/// Calls work(line integrals, scan, rows) for all of these rows; one after the other, if rows are slices.
using WorkOnRows = std::function<void(VectorView lines, const Scan& scan, RowsOfSlices rows)>;
void for_rows(std::vector<float>& lines, const TellingRows& of, RowsOfSlices slices, const WorkOnRows& work);

}  // namespace tandem::pipeline
