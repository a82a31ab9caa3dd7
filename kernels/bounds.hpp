#pragma once

// What the pairs of the tables of variants may be off by, and why; u = 6e-8 is the rounding unit of float32.

namespace tandem::kernels {

/// What a pair may be off by, as `tandem check` measures it (docs/kernels.md): the mismatch, the coupling
/// degree from 1, and max |A_ij - B_ji| / max |A_ij|.
struct Bounds {
  double mu, kappa, entry;
};

namespace bounds {

/// Matched pairs in float32: forward and adjoint take their entries from the same numbers, so that only sums
/// round differently.
/// mu: n terms of random sign leave u sqrt(n) of a sum, and n stays below 1000 along a ray.
/// kappa: terms of one sign, whose roundings may be so too: 160 u.
/// entries: a projector's are the same bits both ways; a filter's come out of transforms of P points, each of
/// which leaves u log2 P of the row: two of them and the response, 3 u log2 P, and P = 32 here.
inline constexpr Bounds rounding{2e-6, 1e-5, 1e-6};

/// Tensor products: the same weights both ways, whose sums are cut where others round.
inline constexpr Bounds products{1e-5, 1e-5, 1e-6};

/// A texture unit rounds the back-projection's weights to 1/256, the projection's are float32; bytes round
/// the data as well.
inline constexpr Bounds texture{5e-3, 1e-3, 5e-3}, bytes{2e-2, 1e-2, 1e-2};

/// A cone beam's texture units cut two fractions to 1/256: 2^-8 / sqrt(3) of a step of sqrt(2) between signs,
/// which the other fraction averages, of a root mean square of 2/3: mu is 5.5e-3 and scatters by 18 %;
/// entries are off by up to 2^-8 twice.
inline constexpr Bounds cone_texture{6.6e-3, 1e-3, 8e-3};
/// FDK of it: of filtered data, which are of both signs, kappa may err like mu. Filtered noise has steps
/// of 1.79 times its root mean square along bins, 1.41 along rows, and the same cuts make 7.1e-3 of what
/// interpolation leaves; mu scatters by a fifth. A step between the ramp's neighbours is 1.4 of its largest
/// number: entries are off by up to 2^-8 of that and 2^-8 of a row.
inline constexpr Bounds fdk_texture{8.5e-3, 5e-3, 9.4e-3};

/// A footprint on a GPU has positions that are off by up to 2^-24 of a row for each voxel from the middle of
/// a run, each way: up to 48 voxels where a thread has three, 2e-6 each way for up to 32. mu averages over
/// runs; FDK filters as well.
inline constexpr Bounds footprint_on_cuda{4e-6, 2e-6, 6e-6}, fdk_on_cuda{4e-6, 2e-5, 4e-6};

}  // namespace bounds

}  // namespace tandem::kernels
