#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../core/random.hpp"
#include "../geometry/phantom.hpp"
#include "../io/scans/scan_reader.hpp"
#include "beam_table.hpp"

namespace tandem::pipeline {

/// A measurement to be simulated.
struct Simulation {
  std::string phantom = "shepp-logan";  ///< see `phantom_names`; its unit circle just fits `grid`
  Scan scan;
  VolumeGrid grid;                ///< grid of the truth; half its width sets the scale of the phantom
  std::optional<double> photons;  ///< photons that reach a mean cell without the object; empty: no noise
  double max_attenuation = 3;     ///< the largest line integral of the scan
  double rings_percent = 0;       ///< standard deviation of the cells' sensitivity, which flats do not show
  Index flats = 10, darks = 10;
  std::uint64_t seed = 0;
  /// The energies of the beam. Attenuations are then those of a thin layer. Empty: one energy.
  BeamTable::Beam beam{};
  /// Parts of more attenuation than this, in the unit of the phantom, are of the dense material.
  std::optional<double> dense_above{};
};

/// @throws GeometryError naming the field, its value and its unit.
void validate(const Simulation& simulation);

/// A scan with known truth. Each count depends only on the seed and on its own place, so that it is the same
/// for any number of threads and for any range of rows.
///
/// With noise, projections are Poisson(I0 gain sensitivity T(y)) + offset, flats are Poisson(I0 gain) +
/// offset, and darks are the offset. The gain is within 5 % of 1 and the offset within 5 of 100 counts; both
/// are fixed for each cell. The type is uint16, or uint32 if rings raise it above 60 000 photons. Without
/// noise, projections are the transmission sensitivity T(y) in float32, flats are 1 and darks are 0.
class SimulatedScan {
 public:
  /// Scales the phantom, in one pass over all rays. @throws GeometryError if no ray meets the phantom, if
  /// the phantom has one of two materials alone, or as `validate` does
  explicit SimulatedScan(Simulation simulation);
  const Simulation& simulation() const { return simulation_; }
  const Phantom& phantom() const { return phantom_; }  ///< mm and 1/mm, scaled to the largest line integral
  io::PixelType type() const;

  /// All frames of one kind for some rows and all bins. Memory: the frames, and the line integrals of
  /// projections, those of dense parts for themselves.
  io::Frames frames(io::FrameKind kind, Range rows) const;

  /// The exact volume as pixel averages. `out` is (slice, y, x).
  void truth(Range slices, std::span<float> out) const { truth(simulation_.grid, slices, out); }
  /// The exact volume on another grid.
  void truth(const VolumeGrid& grid, Range slices, std::span<float> out) const {
    voxelise(phantom_, grid, slices, out);
  }

 private:
  std::vector<float> dense(Range rows) const;

  Simulation simulation_;
  Phantom phantom_;
  BeamTable table_;
  double dense_above_ = 0;  ///< 1/mm
};

/// A Poisson deviate: by inversion for a mean below 10, else by transformed rejection (Hoermann 1993, PTRS).
std::uint64_t poisson(double mean, Random& random);

}  // namespace tandem::pipeline
