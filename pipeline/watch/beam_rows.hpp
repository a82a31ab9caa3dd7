#pragma once

#include <vector>

#include "../../calibration/hardening.hpp"
#include "../../core/array.hpp"
#include "../plan/job.hpp"
#include "packet.hpp"

namespace tandem::pipeline {

/// Keeps line integrals of a few rows and views while all pass, in any order and perhaps more than once. At
/// the end their moments tell of the beam. They are not many: 360 views of one row, or of more rows with 8192
/// bins in all.
class BeamRows {
 public:
  explicit BeamRows(const Job& job);

  /// Line integrals (view, row, bin), on any device, of these views and rows of the job's scan.
  void add(Range views, Range rows, const Array& y);
  /// Adds those that another rank has.
  void add(const BeamRows& other);
  /// What the rows tell that passed whole.
  calibration::Hardening diagnosis() const;

  friend void pass(Packet& packet, BeamRows& rows) {
    pass(packet, rows.lines_);
    pass(packet, rows.is_there_);
  }

 private:
  std::size_t place_of(Index view, std::size_t row) const { return view / step_ * rows_.size() + row; }

  Scan scan_;                ///< has the views that are kept
  std::vector<Index> rows_;  ///< rows of the job's scan
  Index step_ = 1;           ///< from one view that is kept to the next
  calibration::LinesOf made_of_;
  std::string_view why_not_;      ///< what is known before a row passes
  std::vector<float> lines_{};    ///< (view, row, bin)
  std::vector<char> is_there_{};  ///< (view, row)
};

}  // namespace tandem::pipeline
