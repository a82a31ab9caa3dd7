#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "../core/random.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// One ellipsoid of constant attenuation. An infinite third semi-axis makes it a cylinder along z.
struct Ellipsoid {
  double attenuation;               ///< 1/mm (1/length before `scaled`)
  std::array<double, 3> semi_axes;  ///< mm, along its own x, y and z
  std::array<double, 3> centre;     ///< mm
  double rotation;                  ///< rad, about z, from x towards y
};

/// A body whose attenuation and line integrals are known in closed form: ellipsoids that add where they
/// overlap.
struct Phantom {
  std::vector<Ellipsoid> ellipsoids;
};

/// The phantoms of this library live in the cube [-1, 1]^3: the inscribed circle of a slice has radius 1.
Phantom shepp_logan();           ///< modified (Toft 1996, appendix B), the same slice at every height
Phantom shepp_logan_in_space();  ///< the third semi-axis is the second: for cone beams
Phantom disc();                  ///< one cylinder of radius 0.5, centre (0.2, 0.1), attenuation 1
Phantom ellipsoids();  ///< a sphere that holds six ellipsoids of either sign: no two slices are alike
Phantom foam(std::uint64_t seed);  ///< a cylinder with spheres of air that do not meet, of many sizes

/// The names that `--phantom` knows.
std::span<const std::string_view> phantom_names();
/// @throws GeometryError for an unknown name, listing the known ones. `seed` matters to the foam alone.
Phantom named_phantom(std::string_view name, std::uint64_t seed = 0);

/// The body with all lengths times `length` and all attenuations times `attenuation`.
Phantom scaled(Phantom phantom, double length, double attenuation);

/// mm for a length of 1: half the width of the grid along x, so that the inscribed circle fits it.
double half_width(const VolumeGrid& grid);

/// The attenuation at a point (mm).
double value_at(const Phantom& phantom, double x, double y, double z);

/// The exact integral along a parallel ray: the points at height z whose x cos a + y sin a is u (mm), a in
/// rad. Source: Kak and Slaney 1988, section 3.1.
double line_integral(const Phantom& phantom, double angle, double u, double z);

/// The exact integral along the line through two points, mm.
double line_integral(const Phantom& phantom, const std::array<double, 3>& from,
                     const std::array<double, 3>& to);

/// The height of a detector row: the middle of the detector is at z = 0, as `fitting_grid` has it.
double row_height(const ParallelBeam& scan, Index row);

/// Exact line integrals through the cell centres of some rows, all views and bins: `out` is (view, row, bin).
/// @throws SpaceError if `out` has another size; GeometryError for rows that the scan does not have
void project(const Phantom& phantom, const ParallelBeam& scan, Range rows, std::span<float> out);

/// The same of a cone beam: means over samples x samples rays a cell.
void project(const Phantom& phantom, const ConeBeam& scan, Range rows, std::span<float> out, int samples = 1);

/// The largest line integral over every cell of every view.
double largest_line_integral(const Phantom& phantom, const ParallelBeam& scan);
double largest_line_integral(const Phantom& phantom, const ConeBeam& scan);

/// Pixel averages of some slices: `out` is (slice, y, x). Each pixel is the mean over samples x samples
/// points in the plane through the slice's middle, so that a slice is a cut through the body, as a detector
/// row sees it.
/// @throws SpaceError if `out` has another size; GeometryError for slices that the grid does not have
void voxelise(const Phantom& phantom, const VolumeGrid& grid, Range slices, std::span<float> out,
              int samples = 16);

}  // namespace tandem
