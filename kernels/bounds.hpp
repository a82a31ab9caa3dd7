#pragma once

// How wrong the pairs of the tables of variants may be, and why. u = 6e-8 is the rounding unit of float32.

namespace tandem::kernels {

/// How wrong a pair may be, as `tandem check` measures it (docs/kernels.md): the mismatch, the distance of
/// the coupling degree from 1, and max |A_ij - B_ji| / max |A_ij|.
struct Bounds {
  double mu, kappa, entry;
};

namespace bounds {

/// Matched pairs in float32. Forward and adjoint take their entries from the same numbers, so that only the
/// rounding of sums differs.
///
/// mu: n terms of random sign leave u sqrt(n) of a sum, and n is below 1000 along a ray.
///
/// kappa: the terms have one sign, and their roundings may have one sign too: 160 u.
///
/// entries: those of a projector are the same bits both ways. Those of a filter come out of transforms of P
/// points, each of which leaves u log2 P of the row. Two transforms and the response make 3 u log2 P, and P =
/// 32 here.
inline constexpr Bounds rounding{2e-6, 1e-5, 1e-6};

/// Passes that follow one another, of groups of views: each of up to ten rounds its sums by 2 u, the other
/// way round in the other direction. Where a coefficient is small beside the largest one, what cancels rounds
/// as the large ones do.
inline constexpr Bounds passes{4e-6, 1e-5, 2e-6};

/// The same on a GPU. Places count from up to 128 rows or 32 columns away in float: by a place and by a step
/// they are off by 2^-17 of a row and 2^-19 of a column, and a weight by 1.4 times as much, in two passes
/// along each. mu averages over all of them; in a small scan these are few, and it may be as wrong as one.
inline constexpr Bounds passes_on_cuda{1.1e-5, 1e-5, 3e-5};

/// Tensor products: both ways have the same weights. Their sums are cut where others are rounded.
inline constexpr Bounds products{1e-5, 1e-5, 1e-6};

/// A texture unit rounds the weights of the back-projection to 1/256; those of the projection are float32.
/// Bytes round the data as well.
inline constexpr Bounds texture{5e-3, 1e-3, 5e-3}, bytes{2e-2, 1e-2, 1e-2};

/// For a cone beam, texture units cut two fractions to 1/256. Each cut is 2^-8 / sqrt(3) of a step of sqrt(2)
/// between signs, which the other fraction averages, with a root mean square of 2/3. So mu is 5.5e-3, and it
/// scatters by 18 %. Entries are wrong by up to 2^-8 twice.
inline constexpr Bounds cone_texture{6.6e-3, 1e-3, 8e-3};
/// FDK with the same texture units. Filtered data have both signs, so kappa may be as wrong as mu. Filtered
/// noise has steps of 1.79 times its root mean square along bins, and 1.41 times along rows. The same cuts
/// make 7.1e-3 of what interpolation leaves, and mu scatters by a fifth. A step between neighbours of the
/// ramp is 1.4 of its largest number: entries are wrong by up to 2^-8 of that, and 2^-8 of a row.
inline constexpr Bounds fdk_texture{8.5e-3, 5e-3, 9.4e-3};

/// The positions of a footprint on a GPU are wrong by up to 2^-24 of a row for each voxel from the middle of
/// a run, each way. There are up to 48 such voxels if a thread has three; up to 32 make 2e-6 each way. mu
/// averages over runs. FDK filters as well.
inline constexpr Bounds footprint_on_cuda{4e-6, 2e-6, 6e-6}, fdk_on_cuda{4e-6, 2e-5, 4e-6};

/// Any geometry on a GPU: places lie up to 38 cells from the middle of a window, where they are rounded to
/// 2^-19 of a cell, and a share changes by as much: 2e-6 each way, which both ways do in another order. The
/// whole numbers of the projection have 23 bits. mu averages over voxels; of sums that have one sign, so does
/// kappa. Upright views have `footprint_on_cuda`.
inline constexpr Bounds windows_on_cuda{4e-6, 2e-6, 6e-6};

}  // namespace bounds

}  // namespace tandem::kernels
