#pragma once

#include <vector>

#include "../core/array.hpp"
#include "../core/host_device.hpp"

// Slices of many trials of a geometry, by back-projection of the same filtered frames: `tandem calibrate`
// looks for the sharpest. They are sums over views of what a ray sees, which is interpolated linearly between
// bins, and by cubic splines between rows: what waves lose by these hardly depends on where the place lies
// between rows. (A mean of two rows loses most half way between them. Slices of a leaning axis have rays at
// all places between rows, those of an upright one at one place, so the lean would look sharper than it is.)

namespace tandem::kernels {

/// A number that changes evenly over a slice.
struct OverSlice {
  float middle, along_x, along_y;  ///< in the middle of the slice, and what a pixel adds
  TANDEM_HOST_DEVICE float at(float x, float y) const { return middle + along_x * x + along_y * y; }
};

/// Where the pixels of a slice fall in a view: pixel (x, y), counted from the middle, on bin
/// `bin.at(x, y) / depth.at(x, y)`, and in the same way on a row.
struct TrialPlace {
  OverSlice bin, row, depth;
};

/// The weights of four rows about a place, `part` of a row above the second one.
struct FourRows {
  float weights[4];
  TANDEM_HOST_DEVICE explicit FourRows(float part) {
    const float rest = 1 - part;
    weights[0] = rest * rest * rest / 6;
    weights[1] = 2.0F / 3 - part * part * (1 - part / 2);
    weights[2] = 2.0F / 3 - rest * rest * (1 - rest / 2);
    weights[3] = part * part * part / 6;
  }
};

struct TrialSlices {
  Index width = 0;                      ///< pixels along x and y
  float radius = 0;                     ///< the radius of the disc that is made, pixels; the rest is 0
  std::vector<TrialPlace> places = {};  ///< (trial, view)
};

struct TrialKernels {
  /// Makes two slices of each trial, one from the even views and one from the odd ones: (trial and half, y,
  /// x). Each pixel is the sum of what its rays see in the frames (view, row, bin), over the squares of their
  /// depths. Rays that miss the frame add nothing.
  void (*back_project)(const TrialSlices& trials, Image<const float> frames, Image<float> slices,
                       Stream& stream);
};

/// @throws DeviceError if the build lacks the backend
const TrialKernels& trial_slices(Device device);

}  // namespace tandem::kernels
