#pragma once

#include "../plan/route.hpp"

namespace tandem::pipeline {

/// The memory that a recipe, or the machine, has for the chunks of a plan, and how many slices they may have.
class Room {
 public:
  Room(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);

  /// Whether the memory of the host, and that of the devices, holds chunks of some slices.
  bool fits(Index slices) const;
  bool fits_devices(Index slices) const;
  /// Whether the host holds the chunks that the flow has.
  bool fits() const { return fits(plan_.flow.rows_at_once); }

  /// How many slices kernels take at once.
  Index batch() const { return plan_.flow.home().is_cuda() ? 128 : 64; }
  /// The most slices of a chunk that fit, in full batches. @throws DeviceError if not even the fewest do
  Index most_slices() const;
  /// Gives the flow chunks of `enough` slices, or as many as the recipe asks for, or fewer if no more fit,
  /// and no more workers than chunks.
  void choose_chunks(Index most, Index enough);
  /// Notes in the flow what its chunks take.
  void note();

 private:
  double bytes(Index slices) const;

  Plan& plan_;
  const Recipe& recipe_;
  const io::ScanInfo& info_;
  double held_, budget_;  ///< bytes of the host
};

}  // namespace tandem::pipeline
