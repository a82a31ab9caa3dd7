#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "../core/kept_on_devices.hpp"
#include "../geometry/beams/parallel.hpp"
#include "../geometry/volume_grid.hpp"
#include "ramp.hpp"
#include "variant.hpp"

namespace tandem::kernels {

/// One view on the grid of frequencies. Sample k of its row's transform lies k steps from zero. Rays that
/// would go to negative x are turned: their sample k is the conjugate one, so that all lie at x >= 0.
struct Ray {
  double step_x, step_y;  ///< cells a sample
  bool turned;
};

/// The samples of a ray whose windows meet a tile of the grid. A sample lies at sign k (step_x, step_y) +
/// (shift_x, shift_y); with sign -1 it is the conjugate one.
struct Run {
  int view, first, last;  ///< k = first .. last - 1
  int sign, shift_x, shift_y;
};

/// A square of cells of the half plane, and its runs.
struct FrequencyTile {
  int x, y;  ///< the first cell; y counts from -cells_y / 2
  std::size_t first_run, last_run;
};

constexpr int frequency_tile = 16;  ///< cells along each edge
constexpr int widest_window = 7;    ///< taps
/// A sample at x meets the cells of [x - taps / 2 - this, x + taps / 2 - this), and its conjugate their
/// mirror images. So rounding does not decide at the places where many samples of rays along the axes lie.
constexpr double window_shift = 0x1p-10;

/// The numbers of one geometry that decide the memory.
struct FourierSizes {
  Index bins, nx, ny;
  Index length;            ///< length of the transform of a row, which is padded with zeros
  Index highest;           ///< the highest frequency k of a row that counts
  Index cells_x, cells_y;  ///< size of the grid of frequencies; both even
  int taps;                ///< cells that a sample meets along x and y

  Index samples() const { return highest + 1; }  ///< samples of a ray
  Index columns() const { return cells_x / 2 + 1; }
  bool operator==(const FourierSizes&) const = default;
};

/// The way between rows and a slice through frequencies, for one geometry about any axis (docs/kernels.md,
/// "The Fourier model"). Both directions take their coefficients from here.
struct FourierPlan : FourierSizes {
  std::vector<float> window;          ///< weights of taps, a polynomial of v = 8 (d / taps)^2 - 1, d in cells
  std::vector<float> gain_x, gain_y;  ///< for each pixel what the window takes away towards the edges
  std::vector<Ray> rays;
  std::vector<FrequencyTile> tiles;  ///< all cells; tiles that most rays meet first
  std::vector<Run> runs;
  KeptOnDevices kept{};
};

/// exp(2 pi i k t / length): the value at t, in bins, of what a row has at frequency k.
std::complex<double> row_phase(Index k, const FourierSizes& sizes, double t);

/// The input of the kernels: a plan, which A and FBP share, and factors of the samples.
struct FourierViews {
  std::shared_ptr<const FourierPlan> plan;
  std::vector<double> centres;       ///< bin of each view on which pixel (nx / 2, ny / 2) falls, rounded down
  std::vector<float> weights;        ///< weight of frequency k = 0 .. highest, on each side of zero
  std::vector<float> view_weights;   ///< one a view
  std::vector<double> row_shifts{};  ///< how many bins each row is moved to the right; empty: none moves
  Continuation beyond{};             ///< how rows go on beyond their ends
  KeptOnDevices kept{};
};

/// A projector and its transpose through frequencies, without the factor `pitch^2 / bin_pitch`.
using FourierVariant = Variant<FourierViews>;

/// A row of a backend's table. Rows of backends differ in their two directions only.
FourierVariant fourier_row(decltype(FourierVariant::forward) forward,
                           decltype(FourierVariant::backward) backward);

/// The variants of a device; empty if it has none. @throws DeviceError if the build lacks the backend, or if
/// the device is not here.
Table<FourierViews> fourier(Device device);

/// The memory, bytes, that an application to so many slices takes beside its two vectors, with what is kept
/// for the plan.
/// @throws DeviceError if the sizes are beyond what the device can transform
double fourier_memory(const FourierSizes& sizes, Index views, Index slices, Device device);

/// @throws GeometryError for an accuracy that float32 cannot give, or unless the grid has one slice per row
FourierSizes fourier_sizes(const ParallelBeam& scan, const VolumeGrid& grid, double accuracy);

/// Whether the model takes less time than to add every pixel to every view, as measured
/// (docs/kernels/bounds.md).
bool fourier_is_faster(const FourierSizes& sizes, Index views, Device device);

/// The plan for `fourier_sizes`. Plans depend neither on the number of slices nor on the axis. The last ones
/// are kept, and shared by all callers that ask for the same. @throws as `fourier_sizes` does
std::shared_ptr<const FourierPlan> fourier_plan(const ParallelBeam& scan, const VolumeGrid& grid,
                                                double accuracy);

/// The views of A, by a plan for the scan and the grid.
FourierViews fourier_views(std::shared_ptr<const FourierPlan> plan, const ParallelBeam& scan,
                           const VolumeGrid& grid);
/// The same for the transpose of FBP: `response` multiplies frequency k / length.
FourierViews with_response(FourierViews views, const std::vector<double>& response,
                           std::vector<float> view_weights, std::vector<double> row_shifts);

/// The coefficient that the kernels approximate: the trigonometric polynomial of `highest` through a bin that
/// is 1 and others that are 0, where pixel (x, y) falls. In double, without the error of the grid.
double fourier_coefficient(const FourierViews& views, Index view, Index x, Index y, Index bin);

}  // namespace tandem::kernels
