#pragma once

#include "../../kernels/image_filter.hpp"
#include "../preprocess.hpp"

namespace tandem::pipeline {

/// Phase retrieval from one distance: T is multiplied by a response at each frequency, (bin, row) in cycles a
/// pixel.
///
/// Paganin et al., J. Microsc. 206, 33 (2002): 1 / (1 + pi lambda d (delta / beta) f^2).
/// Paganin et al., J. Opt. 22, 115607 (2020), generalised: with the Laplacian of neighbouring pixels in the
/// place of f^2, so that it blurs fine features less.
struct PhaseFilter {
  bool generalised = false;
  double strength_mm2 = 0;        ///< pi lambda d (delta / beta)
  double bin_mm = 1, row_mm = 1;  ///< pixel at the sample

  double response(double row_frequency, double bin_frequency) const;
  /// The distance at which an impulse has fallen to 1e-6 and less, in pixels of this pitch: 14 decay lengths.
  Index reach(double pitch_mm) const;
};

/// Rows are filtered in blocks that begin at the same rows of the file whatever is read with them, each with
/// rows above and below it. So a row has the same bits in every chunk.
struct PhaseBlocks {
  Index own, beyond;  ///< rows of a block, and as many above and below it as the filter reaches
  Index rows() const { return own + 2 * beyond; }
};
PhaseBlocks blocks_of(const PhaseFilter& filter);

/// The filter that the options ask for; empty if they ask for none, or if nothing is known of the optics.
std::optional<PhaseFilter> phase_filter_of(const Preprocessing& how);

/// Notes an energy or a distance that is another one than the scan records.
void note_phase_numbers(const StepValues& values, const io::ScanInfo& info, std::vector<std::string>& notes);

}  // namespace tandem::pipeline
