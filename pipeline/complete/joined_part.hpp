#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../counts/preprocess.hpp"
#include "joined_scan.hpp"

namespace tandem::pipeline {

/// One of the scans that are joined: its transmissions, or its line integrals if it has these.
class JoinedPart {
 public:
  /// @throws GeometryError for steps that need all views at once
  JoinedPart(NamedScan scan, const StepValues& of_cells);

  const std::string& name() const { return scan_.name; }
  const io::ScanInfo& info() const { return scan_.reader->info(); }
  const Detector& detector() const { return detector_of(info().scan); }
  bool has_transmissions() const { return how_.keeps_transmissions; }

  /// (view, row, bin) of all bins.
  Array frames(Range views, Range rows);
  /// What the steps of cells met in all frames that were read so far.
  const Findings& found() const { return found_; }
  /// The mean of its flats, less the darks: counts that are a transmission of 1. @pre frames were read
  double brightness() const;

  // Where it lies: its cell (row, bin) is (row + row_offset, bin + bin_offset) of the first scan. `brighter`:
  // what its line integrals lack.
  double row_offset = 0, bin_offset = 0, brighter = 0;

 private:
  NamedScan scan_;
  Preprocessing how_;
  std::optional<Reference> reference_{};  // for all rows
  io::Frames counts_{};
  Findings found_{};
};

/// @throws GeometryError unless scans can be joined, and differ in nothing but their places
void require_joinable(const std::vector<JoinedPart>& parts);

/// Gives all parts their places. Returns them in words. @throws GeometryError where nothing tells them
std::vector<std::string> place_parts(std::vector<JoinedPart>& parts, const Stitch& how);

}  // namespace tandem::pipeline
