#pragma once

#include "../plan/route.hpp"

namespace tandem::pipeline {

/// The memory for the chunks of a plan, from the recipe or the machine. It tells how many slices chunks may
/// have.
class Room {
 public:
  Room(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);

  /// Whether chunks of some slices fit into the memory of the host and of the devices; or of the devices
  /// alone.
  bool fits(Index slices) const;
  bool fits_devices(Index slices) const;
  /// Whether the chunks of the flow fit.
  bool fits() const { return fits(plan_.flow.rows_at_once); }

  /// The number of slices that kernels take at once.
  Index batch() const { return plan_.flow.home().is_cuda() ? 128 : 64; }
  /// The most slices of a chunk that fit, in full batches. @throws DeviceError if not even the fewest slices
  /// fit
  Index most_slices() const;
  /// Gives the flow chunks of `enough` slices, or as many as the recipe asks for; at most `most`. Removes
  /// workers if there are more of them than chunks.
  void choose_chunks(Index most, Index enough);
  /// Notes in the flow the memory that its chunks take.
  void note();

 private:
  double bytes(Index slices) const;

  Plan& plan_;
  const Recipe& recipe_;
  const io::ScanInfo& info_;
  double held_, budget_;  ///< bytes of the host: held already, and allowed
};

}  // namespace tandem::pipeline
