#pragma once

#include "../../core/error.hpp"
#include "../plan/route.hpp"

namespace tandem::pipeline {

/// Not even the fewest slices fit into memory. The message lacks what other methods need (`make_plan`).
struct DoesNotFit : DeviceError {
  using DeviceError::DeviceError;
};

/// The memory for the chunks of a plan, from the recipe or the machine. It tells how many slices chunks may
/// have.
class Room {
 public:
  Room(Plan& plan, const Recipe& recipe, const io::ScanInfo& info);

  /// The memory, bytes, on the host for chunks of some slices, with what the program holds.
  double bytes(Index slices) const;
  /// Whether chunks of some slices fit into the memory of the host and of the devices; or of the devices
  /// alone.
  bool fits(Index slices) const;
  bool fits_devices(Index slices) const;
  /// Whether the chunks of the flow fit.
  bool fits() const { return fits(plan_.flow.chunk_slices); }

  /// The number of slices that kernels take at once.
  Index batch() const { return plan_.flow.home().is_cuda() ? 128 : 64; }
  /// The most slices of a chunk that fit, in full batches. @throws DoesNotFit if not even the fewest do
  Index most_slices() const;
  /// The slices of a chunk, if there are as few chunks as `most` slices allow, at least `fewest`; the same
  /// number for each worker.
  Index slices_of_few_chunks(Index most, Index fewest = 1) const;
  /// Gives the flow chunks of `enough` slices, or as many as the recipe asks for; at most `most`. Removes
  /// workers if there are more of them than chunks.
  void choose_chunks(Index most, Index enough);
  /// Chooses whether a packed scan is unpacked once for all chunks of the flow, or anew for each: then
  /// `part_slices` is 0.
  void choose_one_read(Index& part_slices);
  /// Notes in the flow the memory that its chunks take.
  void note();

 private:
  Plan& plan_;
  const Recipe& recipe_;
  const io::ScanInfo& info_;
  double held_, budget_;  ///< bytes of the host: held already, and allowed
};

}  // namespace tandem::pipeline
