#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "../geometry/phantom.hpp"
#include "../io/scan_reader.hpp"

namespace tandem::pipeline {

/// A measurement to be made up.
struct Simulation {
  std::string phantom = "shepp-logan";  ///< see `phantom_names`; its unit circle is inscribed in `grid`
  Scan scan;
  VolumeGrid grid;                ///< of the truth; half its width sets the scale of the phantom
  std::optional<double> photons;  ///< that reach a mean cell unattenuated; empty: no noise
  double max_attenuation = 3;     ///< the largest line integral of the scan
  double rings_percent = 0;  ///< standard deviation of each cell's sensitivity, which the flats do not see
  Index flats = 10, darks = 10;
  std::uint64_t seed = 0;
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const Simulation& simulation);

/// A scan with known truth. Each count depends on the seed and its own place only, so that neither the number
/// of threads nor the ranges of rows asked for change it.
///
/// With noise: projections Poisson(I0 gain sensitivity exp(-y)) + offset, flats Poisson(I0 gain) + offset,
/// darks offset; gain is within 5 % of 1, the offset within 5 of 100 counts, both fixed for each cell.
/// uint16, uint32 where rings raise it above 60 000 photons. Without: float32 transmission sensitivity
/// exp(-y), flats 1, darks 0.
class SimulatedScan {
 public:
  /// Scales the phantom: one pass over all rays. @throws GeometryError if no ray meets the phantom, or as
  /// `validate`
  explicit SimulatedScan(Simulation simulation);
  const Simulation& simulation() const { return simulation_; }
  const Phantom& phantom() const { return phantom_; }  ///< mm and 1/mm, scaled to the largest line integral
  io::PixelType type() const;

  /// All frames of one kind, some rows, all bins. Memory: the frames, and for projections their line
  /// integrals.
  io::Frames frames(io::FrameKind kind, Range rows) const;

  /// The exact volume, pixel averages: `out` is (slice, y, x).
  void truth(Range slices, std::span<float> out) const { voxelise(phantom_, simulation_.grid, slices, out); }

 private:
  Simulation simulation_;
  Phantom phantom_;
};

/// A Poisson deviate: by inversion below a mean of 10, above by transformed rejection (Hoermann 1993, PTRS).
std::uint64_t poisson(double mean, Random& random);

}  // namespace tandem::pipeline
