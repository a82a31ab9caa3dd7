#pragma once

#include <cmath>

#include "../../core/space.hpp"
#include "../../kernels/bounds.hpp"

/// Every bound that a test compares with, and where it comes from. u is the unit roundoff of float, 2^-24.
namespace tandem::tolerance {

constexpr double u = 0x1p-24;

// ---- Projectors and their pairs

/// Parts of FBP, added to a volume one after another, against all at once, relative to the largest voxel:
/// each part rounds each voxel once more, and sums of views in another order differ by some u.
constexpr double parts_of_fbp = 1e-6;

/// One coefficient against its formula in double. Within a tile of 16 pixels the kernels hold the position as
/// float: with s = |step_x| + |step_y| bins a pixel it is at most 1 + 15 s; the steps are rounded once (15 s
/// u), and so are two products with their sums (2 (1 + 15 s) u) and the start (u / 2). The hat turns a
/// distance d into `slope` d and is itself rounded in height, slope, product and difference (each at most
/// `height` u).
constexpr double coefficient(double scale, double height, double slope, double s) {
  return scale * u * (slope * (45 * s + 3) + 4 * height);
}

/// A pair that shares its coefficients.
constexpr double mismatch = kernels::bounds::rounding.mu, coupling = kernels::bounds::rounding.kappa;

/// The pair of Model::fourier, whose transforms leave u log2 P of a slice each: half of 1e-6 for three of
/// them.
constexpr double fourier_pair = 1e-6;

/// The pair of Model::hierarchical. Both directions have the same weights in float; sums of some tens of
/// terms follow one another in up to ten passes. Products of random signs in double, over the lengths of both
/// vectors, average their roundings over all entries.
constexpr double hierarchical_mismatch = kernels::bounds::passes.mu, hierarchical_products = 1e-6;

/// The same against the sum that it stands for, in double, with the same taps (relative L2, data of FDK with
/// window hann along bins and rows): each pass leaves some 1e-3 of waves of up to 0.35 cycles a sample
/// (docs/kernels/hierarchical.md), and there are five to eight.
constexpr double hierarchical_sum = 4e-3;
/// The same error where bodies of 24 slices have edges of few voxels, or where one view has none beside it to
/// average.
constexpr double hierarchical_sum_of_few = 6e-3;

/// That of FDK, which reads rows as footprints do, of data that nothing else smooths along them.
constexpr double hierarchical_sum_of_fdk = 4e-3;
/// That of each level of groups by eight taps along t and twelve along u and v, behind views that are read by
/// eight (window hann): 0.9e-3 each, as a study of such groups found.
constexpr double hierarchical_level = 1e-3;

/// Its projections of Gaussians with a standard deviation of two voxels, whose spectrum ends where six taps
/// begin to err, against exact ones, relative L2; and those of a plateau, root mean square over the rays,
/// whose lattice of voxels has 1.2 cycles a cell at most.
constexpr double hierarchical_blobs = 5e-3, hierarchical_blobs_of_a_fan = 3e-3, hierarchical_plateau = 1e-3;

/// A slab of slices has the samples of the whole. Positions of slices count from every 16th one in float, so
/// that they round by 16 u of a row, 1e-6, and rows behind a filter that smooths change by a fifth from one
/// to the next.
constexpr double hierarchical_slab = 2e-7;

/// The largest difference of a part that begins at any slice from the whole, over what independent views of
/// the largest number add up to by chance: positions round by 16 u of a row, 1e-6, and rows change by a third
/// from one to the next; a dozen views of the same sign add up to some times that.
constexpr double hierarchical_drawn_part = 5e-6;

/// A composed operator adds the rounding of its intermediate vectors, one u each, to that of its parts.
constexpr double composed_mismatch = 2 * mismatch;

/// ||A - Bt||_F / ||A||_F of Joseph forward with pixel-driven backward at 64 x 64 pixels, 90 angles k pi /
/// 90, 95 bins, unit pitch. An independent program in double gives 0.141. The half unit of its last digit,
/// and the effect of a bin more or less at the edge, are within 0.003.
constexpr double unmatched_joseph = 0.142, unmatched_joseph_within = 0.003;

/// alpha A x + beta y against the same made from A x: one rounding in each of four operations.
constexpr double axpby = 4 * u;

/// sum of a view x bin pitch = sum of a slice x pixel area: a bin adds fewer than 160 terms in float, each
/// rounding at most u of the sum: 160 u = 9.5e-6.
constexpr double conservation = 1e-5;

/// Joseph's hats of radius r < 1 bin do not add up to one: harmonic k of their sum over bins is sinc^2(k r),
/// and the sum of a view keeps of it what the object's spectrum has where k / bin_pitch meets the lattice of
/// the pixels. A Gaussian of 2.5 pixels has e^(-123 q^2) at q cycles a pixel beside it. The worst of voxels
/// of half a bin: 45 degrees, k = 3, r = 0.354, q = 0.086: 2 sinc^2(1.06) e^(-0.91) = 2.9e-3, and a third
/// more for k = 2 and 4.
constexpr double conservation_joseph = 4e-3;

// ---- Fourier transforms

/// A transform of P numbers in float against sums in double, relative to the length of the line. Powers of
/// small primes leave u log2 P (Schatzman 1996). A large prime factor goes through three transforms of up to
/// 4 P numbers; a prime p below 50 is a sum of p numbers, each rounded by at most u / 2.
inline double transform(Index length) { return u * (3 * std::log2(4.0 * static_cast<double>(length)) + 25); }

/// Samples between -1 and 1 of rays, from cells or in cells, against sums in double. A position is at most
/// 3.5 cells, rounded by 4 u; the window falls by less than 1 a cell, and its polynomial rounds a weight by 4
/// u more: 8 u each, 16 u for the product of two. At most 100 terms of a length of sqrt(2) meet: 2300 u.
constexpr double gridded = 2300 * u;

// ---- Ramp filter

/// A row filtered by float FFT against direct convolution in double: a transform of P points leaves
/// u log2 P of the row's norm (Schatzman 1996), two transforms and the response about 3 u log2 P; P = 128
/// here.
constexpr double filtered_row = 3 * 7 * u;

/// Window and response values are computed in double: 1e-12 is a thousand roundings of a number below 1.
constexpr double double_rounding = 1e-12;

/// pitch H[0] = 2 / (pi^2 P) (1 + O(1/P)): 3.95784e-4 and 1.97893e-4, with six digits.
constexpr double response_at_zero = 5e-10;

// ---- Phantoms, simulation, quality, axis

/// A double rounded to float, and a value computed from one: relative.
inline constexpr double float_rounding = 2 * u;

/// The chord of a grazing ray is the root of a difference: roundings of 1e-16 become 1e-8, times semi-axes
/// ratios of up to 20 and attenuations of up to 6.
inline constexpr double grazing_chord = 1e-5;

/// A rectangle sum over half an ellipse misses 2 |zeta(-1/2)| sqrt(2) = 0.59 of peak x pitch x sqrt(pitch /
/// half width) by its two square-root ends (Euler and Maclaurin); doubled for the higher terms.
inline constexpr double half_ellipse_sum = 1.2;

/// Sample moments may lie this many of their own standard deviations off: one in 1.7 million for normal
/// deviates.
inline constexpr double deviations = 5;

/// Bins: an axis found in noise-free data of a body that fits the detector.
inline constexpr double axis_clean = 0.1;

/// Bins: an axis found in measured data against the one that is known, to about half a bin.
inline constexpr double axis_measured = 0.5;

/// What groups of views that differ on the axis by half a bin each way say of it, relative: a disc has nearly
/// the same curvature in all of them, but at their borders a parabola through three misfits stands for two
/// discs.
inline constexpr double axis_groups = 0.15;

/// Rows of air of the measured capsule agree by up to 0.26 with some axis, all others here by 0.37 and more.
inline constexpr double doubtful_agreement = 0.3;

/// The gap of PDHG as a share of its objective: vectors are floats, so that what is left of At p + Kt q after
/// they cancel each other is good to some 1e-7 of them, times lengths and factors of ten or so.
constexpr double gap = 2e-5;
/// scikit-image's structural similarity of float64 images, quoted to 10 digits.
inline constexpr double quoted_similarity = 1e-10;

/// A region has tiles of its own, so positions are rounded anew: a coefficient differs by up to twice the
/// bound above, 2 (45 sqrt(2) + 7) u = 8.4e-6, times a filtered row, which for the phantom used stays below
/// 10 times the largest voxel over the sum of all view weights. Relative to that voxel.
constexpr double region = 1e-4;

/// FDK of a long cylinder, means over rings inside 0.8 of its radius: rows beyond the detector are exact for
/// it but for the ray sampling of 120 views and the row by which models interpolate. What issue 54 asks for.
constexpr double long_cylinder = 1e-2;
/// The same by 20 steps of CGLS, which leave waves in the rings; it is 0.12 where the rows beside the
/// selected ones are not read.
constexpr double solved_cylinder = 3e-2;

// ---- Filtered back-projection

/// dB: FBP of a half acquisition beside that of the whole scan, which has each ray twice. They differ by 4e-6
/// of the value at most (docs/kernels.md), 1e-5 of the range here, beside an error of 31 dB, 0.028 of the
/// range: 20 log10(1 + 1e-5 / 0.028).
inline constexpr double half_acquisition_db = 3.1e-3;

/// The mean of a patch of more than 100 pixels inside a disc, relative. A disc of attenuation mu reads mu
/// (docs/conventions.md). An independent program gives 0.20003 and 0.20001 for 0.2, 1.5e-4, at 402 views and
/// windows from 512 points. Here there are half as many views and bins, whose error falls with the first to
/// second power: 6e-4. 2e-3 is three times that.
constexpr double fbp_patch = 2e-3;

/// The same where views leave gaps of up to 25 degrees, for a disc up to a third of its radius off the axis:
/// its line integrals through a point differ by the square of that, a tenth, and what stands for a gap of a
/// fifteenth of the turn has half of that wrong with either sign: 4e-3.
constexpr double gapped_patch = 5e-3;

/// Views x variance of white noise of variance 1 after linear interpolation: pi^2 (1/18 - 1/(6 pi^2)) =
/// 0.3816; an independent program measured 0.3811. 24 slices of 7500 pixels, of which the ramp makes about
/// one in two independent: sqrt(2 / 90 000) = 0.5 %; three of them.
constexpr double fbp_noise = 0.3816, fbp_noise_within = 0.006;

/// The mean of a patch of 20 pixels or more in a disc of a few mm at the rim of the field, relative: a disc
/// of few pixels has 2 % in its ripples, and rays that only one side sees have no opposite ones to even them
/// out.
constexpr double one_sided_disc = 0.03;

/// Noise of rays that are weighed, as it reaches voxels that none of them meets: the ramp's tail, 1 / (pi
/// n)^2 of a ray n bins away for odd n, next to 1/4 of its own. Voxels lie up to 3 bins from the first
/// weighed ray, whose weight differs by 0.04 there and by 1 not before 16: 1e-3 at the rim; ten times that is
/// allowed.
constexpr double noise_of_weighed_rays = 0.01;

// ---- Solvers

/// |b - Ax| of CGLS against the step before, in units of |b - Ax0|. The residual is a float vector that each
/// step changes with one rounding in each of three operations (3 u), and the step length, made from float s
/// and q, is off by some u, to second order only; 8 u leaves room for both.
constexpr double cgls_growth = 8 * u;

/// A solution against the shortest one, 300 steps on: from 0, exact CGLS ends at the shortest. Rounding moves
/// it by about u times the condition, which is below 1e4 here; one that runs away along the null space passes
/// any factor.
constexpr double cgls_bounded = 1.01;

/// A step of a small system in float against the same in double, relative: sums of fewer than 100 terms.
constexpr double small_sum = 100 * u;

/// A row of values up to 2.5 that is filtered and continued, against the sum in double, times pi / 2: the
/// transforms leave 1e-6 of the largest value, and so does what the row is continued with.
constexpr double continued_row = 1e-5;

/// Slices whose rows are continued, against those from a detector as wide as the continued rows: rounding,
/// the Fourier model's error of 1e-5, and for windows what their short kernels see across the end of the row.
constexpr double continued_image = 1e-3;

/// Line integrals about an axis that is moved by a fraction of a bin, against a scan with that axis:
/// positions are float within tiles of 16 pixels, so a hat may differ by 2^-20, and a sum of some of them by
/// less.
constexpr double moved_axis = 1e-6;

/// A half acquisition against the whole scan, relative L2: both are the same sums, in which a ray stands in
/// for its opposite one. Line integrals of opposite rays differ by float32's rounding, 6e-8 of the largest,
/// and the ramp makes some ten times more of it.
constexpr double opposite_rays = 2e-6;

/// The same where rows have axes of their own, and are padded to another length than each alone: the
/// polynomials through filtered rows differ, whose tails end at half of that length with a few hundredths of
/// a percent of the peak.
constexpr double fourier_of_moved_rows = 1e-3;

/// The same of rows that go on: sums over opposite views are ten times smaller than these rows beside them.
constexpr double opposite_rays_that_go_on = 3e-5;

/// A half acquisition beside the whole scan and beside the closed form: what is promised (0.3 %).
constexpr double half_of_whole = 3e-3;

/// The mean of a disc of 2000 pixels after 20 steps of CGLS or 100 of SIRT on line integrals through cells'
/// middles: both have the low frequencies by then; what is left is FBP's own error of such scans and as much
/// again for the shares of pixels at the disc's edge.
constexpr double iterated_disc = 5e-3;

/// The mean of the middle of the field, of a disc that reaches beyond it all round, by CGLS over all of the
/// disc: of all solutions it finds the shortest, which puts some of the disc outside. It reads 0.87 to 0.96
/// for discs of 1.2 to 2.3 times the field, from 20 steps to 200; FBP 1.01 to 1.7.
constexpr double interior_disc = 0.15;

/// The same by FBP whose rows are continued over half of the detector, although the disc goes on for more or
/// less: the constant was off by -6 % for a disc of 1.6 times the detector, and by 12 % for one of twice its
/// width (an independent program in double).
constexpr double interior_fbp = 0.2;

/// A measured fan with and without the three columns that only one side sees, relative L2 of a region inside:
/// 0.0044 is the difference between the whole scan cut in this way and an independent program. It was 0.067
/// before.
constexpr double columns_cut = 0.0044;

/// |x - exact| of least squares in float after some steps: each step rounds the residual by about 2 u |b| at
/// random, At carries that over with at most |A|, and the normal matrix divides it by its smallest
/// eigenvalue.
inline double least_squares(double norm_A, double norm_b, double smallest, int steps) {
  return 2 * u * std::sqrt(static_cast<double>(steps)) * norm_A * norm_b / smallest;
}

/// SIRT on a small consistent system after 3000 steps; it closes in by a factor of 1 - 1/condition a step,
/// and the slowest of 35 unknowns is at rounding, 1e-7 times its condition of some 1000.
constexpr double sirt = 1e-3;

/// Input: a ball of value 1 with soft edges, without noise, on a grid that reaches beyond the rays. OSEM
/// overshoots at the edge by up to 0.75, others by a third; with weights that know no bound, voxels come to
/// tens.
constexpr double beyond_rays = 2;

/// Input: modified Shepp-Logan, 96 bins, 150 views of a whole turn, rows moved by up to 15.4 bins. Error of
/// iterations over that of the same row with its axis in the operator: moves by whole bins leave it as it is
/// (1.02), others ring by 1 / (pi n) of the step where a row is cut, n bins from there (1.18). Zeros that
/// count make it 1.6 and more.
constexpr double moved_row = 1.25;

/// Input: 64^2 pixels, 90 views, counting noise. Error of the step at which stagnation is seen over that of
/// the best: steps of CGLS near its best differ by up to a fifth, and the stop may miss it by one.
constexpr double near_the_best_step = 1.25;
/// The same of the step after the residual has looked the most like white noise: it is up to two steps off
/// the best one, as measured up to 1.51.
constexpr double near_the_whitest_step = 1.6;
/// The same of the step after the least of generalised cross-validation, which is that of the best Ax, not of
/// the best x; as measured up to 1.37.
constexpr double near_the_least_of_gcv = 1.5;

// ---- Quality of filtered back-projection

/// Rows that go on with the circle of a disc that is cut off, against those of the whole disc, in units of
/// the largest value after the ramp. The squares of line integrals, which have u, are extrapolated over 60
/// bins from the last 6, which magnifies u a hundredfold, and where the circle ends, the root does again
/// (measured: 1100 u).
constexpr double circle_of_disc = 2000 * u;

/// Input: modified Shepp-Logan, N = 256 and 512 (tests/pipeline/test_fbp_quality.cpp). Reference: tables that
/// an independent program made in double. Norm: RMSE over the inscribed disc, relative. The tables have four
/// digits; 2 % is what may differ between two ways of drawing the same windows and padding.
constexpr double fbp_rmse = 0.02;

/// The same, PSNR over the square, range 1, dB. At N = 256 the corners, which not every view sees, hold 60 %
/// of the square error (RMSE 0.0205 in the disc, 0.0291 over all): what is done within half a bin beyond the
/// last one counts there, and 10 % of it is 0.26 dB.
constexpr double fbp_psnr = 0.3;

/// The same with Poisson counts, mean PSNR of 4 draws, dB: 0.26 as above, and the draws' own scatter below
/// 0.05.
constexpr double fbp_noise_psnr = 0.3;

/// Differences of models from the best by a smooth window, dB (Joseph's hats alias more); by the bare ramp,
/// relative RMSE. "No worse" may be 0.05 dB worse, which nobody sees (docs/kernels.md).
constexpr double models_alike_db = 0.3, joseph_alike_db = 0.45, bare_ramps_alike = 0.1, no_worse = 1.006;
/// Mean responses against sums: kinks leave 3 (1/64)^2 / 4, views (pi / 128)^2 / 6.
constexpr double mean_response = 3e-4;

// ---- CUDA against the CPU

/// Both compute a coefficient from the same numbers; sums of up to 2047 terms in another order leave u
/// sqrt(2047) = 2.7e-6 of the result at the most, and transforms 3 u log2 P = 2.2e-6.
constexpr double devices = 3e-6;

/// Steps on a GPU against the CPU, of numbers near 1: logarithms, each within 3 units in the last place,
/// 7e-7.
constexpr double steps_with_logarithms = 1e-6;
/// The same where values are divided by what transforms in float have left: two filters, each of u
/// sqrt(log2(1e4)) there and back, 9e-7 of the largest value, over fits that are a third of it or more. Over
/// all values it is `steps_with_logarithms`.
constexpr double steps_with_fits = 3e-6;
/// Transforms of 200 x 200 pixels in float, on both sides: each u sqrt(log2(4e4)) of the largest value, 3e-7.
/// For -log T this becomes 1 / T of that, and T is above a tenth where it is blurred.
constexpr double steps_with_transforms = 1e-5;
/// The same over all pixels: both sides together 4e-7 of T, and T |log T| is a third on the average.
constexpr double steps_with_transforms_overall = 2e-6;

/// Input: sinogram uniform in [-0.3, 0.7), `views` views, pixels of one bin, all seen. Reference: the CPU's
/// float32. Norm: relative L2. A texture unit has positions to 1/256 bin; cut off rather than rounded they
/// are off by 2^-8 / sqrt(3) (root mean square), times the step between neighbouring bins, 1 /
/// sqrt(6): 9.2e-4 a view at random, of a mean of 0.2 a view. 6.3e-4 at 53 views, and half of it where
/// positions are rounded.
inline double texture(double views) { return 4.6e-3 / std::sqrt(views); }

/// Input: cone beam, volume or projections uniform in [-0.3, 0.7), sums of so many `terms`. Reference: the
/// CPU's float32. Norm: relative L2. Two fractions are cut to 1/256, each by 2^-8 / sqrt(3) (root mean
/// square) times a step of 1 / sqrt(6) between neighbours that the other one has averaged, sqrt(2/3): 1.06e-3
/// a term at random, of a mean of 0.2; half as much again for rays and voxels that meet few terms.
inline double cone_texture(double terms) { return 8e-3 / std::sqrt(terms); }

/// The pair of the same.
constexpr double cone_texture_mismatch = kernels::bounds::cone_texture.mu,
                 cone_texture_coupling = kernels::bounds::cone_texture.kappa;

/// FDK of noise: data and errors are of both signs and add up alike, whatever the number of views. Filtered
/// neighbours are correlated by -0.61, steps along bins 1.79 times their root mean square, along rows 1.41
/// times; the same cuts as above make 7.1e-3 of what bilinear interpolation leaves.
constexpr double cone_fdk_texture = 7.1e-3;

/// The same of few bins, which most pixels miss, and others meet in one view alone, at their very edges: the
/// position's 2.3e-3 against a weight of 1 / sqrt(3) (root mean square).
constexpr double texture_of_few_bins = 4e-3;

/// What float16 adds, as a factor: 2^-11 of a number at the most, at random 1.4e-4 of its root mean square of
/// 0.35, a quarter of what the weights do; and as much again if the unit interpolates in float16.
constexpr double texture_float16 = 1.25;

/// The same of uint8: steps of 1 / 253 leave 1.14e-3 (root mean square) a bin, as much as the weights do in a
/// view; together sqrt(2), and doubled for what few bins leave by chance.
constexpr double texture_uint8 = 3;

/// Input: sinogram uniform in [-0.3, 0.7), all bins seen. Reference: the CPU's float32. Norm: relative L2.
/// Float16 has steps of 2^-11 of a weight in [1/2, 1) and of 2^-10 / m of a datum with mantissa m: with a
/// datum of root mean square 0.35, 4.3e-5 and 4.1e-5 a bin, 8.4e-5 a view of two bins, of a mean of
/// 0.2: 4.2e-4 / sqrt(views); a quarter more for chance.
/// A volume of such numbers, projected: as many lines of pixels in the place of the views.
inline double tensor_float16(double views) { return 5.3e-4 / std::sqrt(views); }
/// The same at 2048 views, where sums that are cut and not rounded count.
constexpr double tensor_float16_of_2048_views = 5e-5;
/// Few bins or views, where nothing averages: 2^-12 each of weight and datum.
constexpr double tensor_float16_of_few_bins = 4.9e-4;

/// Tensor products both ways.
constexpr double tensor_mismatch = kernels::bounds::products.mu;

/// A position in the tensor kernels, bins: floats below 128, rounded three times by 2^-18 at most, from steps
/// that were rounded once, 2 * 15 * 1.4 u: 1.4e-5.
constexpr double tensor_position = 2e-5;

/// Input: modified Shepp-Logan, largest value 1, N = 512, 768 views, filtered with the ramp. Reference: the
/// CPU's float32. Norm: RMSE over the square. A simulation of each path against double gives the factors
/// behind 1.5; half as much again is for what its models leave out.
constexpr double fbp_by_texture = 1.5 * 5.9e-5, fbp_by_half_texture = 1.5 * 6.0e-5;
constexpr double fbp_by_byte_texture = 1.5 * 8.6e-3, fbp_by_half_products = 1.5 * 1.3e-5;
/// The same in float32, which that simulation takes for exact: `devices` of values up to 1.
constexpr double fbp_by_float = devices;

/// Input: tests/support/reconstructions.hpp, line integrals y, filtered q, |q| = 8.1e-4 |y|. Reference: the
/// CPU. Norm: relative L2 of the volume, to which errors of q add up with 0.27 |dq| / |q| if they are random,
/// as computed once. Filter: 3 u log2 P = 1.25e-6 of |y|, times the ramp's 0.29 and a view's weight of 0.067,
/// 3.0e-5 of |q|, leaves 8.1e-6. Back-projection: `devices`.
constexpr double fbp_devices = 8.1e-6 + devices;
/// The same on textures: 2.3e-3 of the step between neighbouring bins, which adds up with 0.28.
constexpr double fbp_texture = 6.4e-4;
/// The same by tensor products in float16: 2.4e-4 of the root mean square of q a view, see above; a quarter
/// more for chance.
constexpr double fbp_tensor_float16 = 8.1e-5;

/// The sum of a footprint over cells and views against that of exact chords, relative: 7e-5 by an independent
/// program.
constexpr double footprint_mass = 1e-4;
/// Input: a ball up to 10 mm from the midplane of a source at 200 mm, 180 views or more. Reference: its
/// attenuation. Norm: mean over its inside, and outside, relative. FDK is exact in the midplane and errs by
/// the order of the cone angle squared beside it: 0.05^2.
constexpr double fdk_plateau = 2.5e-3;
/// Input: a ball of 0.2 of the radius seen, in the plane of the sources, 96 bins, 240 views; of a helix 64
/// bins, 180 views. Reference: its attenuation. Norm: mean of its inner half. The filter is exact there; bins
/// are averages, whose ramp leaves 2 / 96^2 of a ball of 20 bins, and views are some.
constexpr double ball_on_orbit = 1e-3;
/// Input: a disc of 50 voxels along its radius with a disc of 10 in it, half acquisitions and arcs of 120
/// bins, 240 or 360 views. Reference: their attenuation. Norm: RMS inside 0.8 of the radius, beyond three
/// voxels from the edge of the small disc, relative. Detectors that face the axis leave 0.006, of edges in
/// rows of bins; shares by bins of those that do not left 0.02 to 0.1.
constexpr double half_views = 1e-2;
/// Input: spheroids of 100 bins along their radius, 256 views. Reference: closed form. Norm: the voxel in the
/// middle, absolute. The ramp of sampled rows leaves 1 / (2 100^2).
constexpr double laminography = 1e-3;
/// Input: a ball of 10 voxels. Reference: FDK by another footprint, whose voxels differ by 0.02 of L2 at most
/// (docs/kernels/flexible.md) at their edges. Norm: relative L2 of the volume.
constexpr double other_footprint = 1e-2;
/// The same for linear interpolation, with a window.
constexpr double other_interpolation = 2e-2;
/// Input: a stack of discs of 1, 28 mm wide, 2.5 mm thick and 5 mm apart, seen by a helix of 4 mm a turn at
/// 60 mm. Reference: 1 within, 0 between. Norm: mean over 11 mm of a slice. At the rim of a disc rays of the
/// turn are 2 mm 14 / 60 = 0.5 mm higher, at the edges of its faces.
constexpr double discs = 0.05;
/// Three turns in the place of one, 1 / 270 of whose views each slice weighs with others: relative L2.
constexpr double turns_alike = 1e-2;
/// A projection in tiles against the whole one, relative L2.
constexpr double tiles = 1e-6;
/// Entries of a cone-beam pair, relative to the largest: three products in another order, 3 u each way.
constexpr double entries = 6 * 6e-8;

/// Input: tests/operators/test_cone_hats.cpp. Reference: the formulas in double. Norm: entries over the
/// largest. Positions are double; two hats, the step or area, the ray's length and three products are rounded
/// once.
constexpr double cone_coefficient = 8 * u;

/// mu of a pair that is none: a thousand times what rounding leaves of one that is.
constexpr double unmatched = 1e-3;
/// kappa of the same: sums of all coefficients alone, which both models have from the same integrals.
constexpr double unmatched_coupling = 1e-2;

/// Footprints by products.
constexpr double footprint_products = kernels::bounds::footprint_on_cuda.mu,
                 footprint_products_coupling = kernels::bounds::footprint_on_cuda.kappa;

/// The edge of a disc's shadow, in bins: at an eighth of the peak, for a disc of 35 bins, the threshold lies
/// s = 0.27 bins within the edge, where the mean over a bin is no chord. So up to a quarter of a bin is read
/// amiss there; the fit takes the mean over all views.
constexpr double edge_of_shadow = 0.2;

/// Two solvers of one convex problem that have come to their end: what is asked for of the objectives. F is
/// above its least by at least half of |A (x - x*)|^2, so x may differ by much more.
constexpr double one_objective = 1e-4, one_minimiser = 1e-2;
/// Values below 1 against those that are printed with six digits, and rounding of some thousand steps.
constexpr double denoised = 1e-5;

/// A step of `Mltr` on a small system in float against the same in double, relative: exponents of up to 100
/// are rounded by as many u / 2, and so are the exponentials; sums have fewer than 100 terms.
constexpr double exponential_step = 100 * u;

/// Rounding differs from the first step on, and four steps magnify it to less than this.
constexpr double solver_steps = 1e-5;
/// Volumes that rules stop, in units of which one is no power of two times the other: four steps of CGLS
/// magnify rounding to `solver_steps`, up to 15 more a hundredfold (measured: 3e-4).
constexpr double of_units = 1e-3;
/// Volumes after ten steps, wherever their vectors lie: four steps of CGLS magnify rounding tenfold (below),
/// ten again as much.
constexpr double placements = 10 * solver_steps;

/// The volume of several ranks against that of one process, relative L2.
constexpr double ranks = 1e-6;
/// How much nearer to the exact iterate of CGLS one order of sums may be than another one: rounding of a few
/// large terms decides (measured: 0.04 to 1.3 in 10 steps).
constexpr double luck = 30;

/// Ten steps of BA-GMRES: it works with BA, whose rounding is u of the largest eigenvalue, and by then fits
/// some that are a thousandth of that.
constexpr double normal_steps = 1000 * 2 * u;

/// b - Ax as LSQR and LSMR carry it along, and as A makes it of the solution, relative, over 60 steps: each
/// step rounds the solution, of which A makes some |A| |x| u / |r| = 30 u at random, and the residual by 3 u.
constexpr double krylov_residual = 1e-4;
/// The fall of |b - Ax|^2 for a unit of reach, from CGLS and from LSQR, from LSMR and from BA-GMRES: squares
/// of gradients, which are smaller than the residual's rounding allows `solver_steps` for.
constexpr double falls = 1e-3;
/// Degrees of freedom after up to six steps, relative to exact ones: four steps magnify rounding to
/// `solver_steps`, two more again as much as three do (measured: 1e-4; 1e-2 after nine).
constexpr double krylov_freedom = 30 * solver_steps;
/// How much more that is than what one application differs by.
constexpr double cgls_magnifies = solver_steps / devices;

/// High frequencies of the radial mean, of the ten rings of broad_rings.hpp: 1.7e-4 become 3.4e-5 at the
/// most.
constexpr double share_of_broad_rings = 0.2;
/// Mean of a grain that no ring goes through. Where one does: a fifth of the most that rings change one by.
constexpr double features_beside_rings = 0.01;

}  // namespace tandem::tolerance
