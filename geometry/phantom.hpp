#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "../core/public.hpp"
#include "scan.hpp"

namespace TANDEM_PUBLIC tandem {

/// One ellipsoid of constant attenuation. An infinite third semi-axis makes it a cylinder along z.
struct Ellipsoid {
  double attenuation;               ///< 1/mm (1/length before `scaled`)
  std::array<double, 3> semi_axes;  ///< mm, along its own x, y and z
  std::array<double, 3> centre;     ///< mm
  double rotation;                  ///< rad, about z, from x towards y
};

/// @throws GeometryError for semi-axes that are not positive, an infinite one among the first two, and
/// numbers that are not finite
void validate(const Ellipsoid& ellipsoid);

/// A body whose attenuation and line integrals are known in closed form. Where its ellipsoids overlap, their
/// attenuations add.
struct Phantom {
  std::vector<Ellipsoid> ellipsoids;
};

/// The phantoms of this library lie in the cube [-1, 1]^3, so that the inscribed circle of a slice has
/// radius 1.
Phantom shepp_logan();             ///< modified (Toft 1996, appendix B); every slice is the same
Phantom shepp_logan_in_space();    ///< for cone beams: the third semi-axis equals the second
Phantom disc();                    ///< one cylinder of radius 0.5, centre (0.2, 0.1), attenuation 1
Phantom ellipsoids();              ///< a sphere with six ellipsoids of both signs; no two slices are alike
Phantom plate();                   ///< a flat ellipsoid with small ones in it, for laminography
Phantom balls();                   ///< twelve small ones on a screw, no two at one height, for calibration
Phantom pins();                    ///< a body with a hole, an insert and two pins that are ten times as dense
Phantom foam(std::uint64_t seed);  ///< a cylinder with spheres of air of many sizes, which do not overlap

/// The names that `--phantom` knows.
std::span<const std::string_view> phantom_names();
/// The phantom with this name. Only the foam uses `seed`. @throws GeometryError for an unknown name; it lists
/// the known ones
Phantom named_phantom(std::string_view name, std::uint64_t seed = 0);

/// The body with all lengths multiplied by `length` and all attenuations by `attenuation`.
Phantom scaled(Phantom phantom, double length, double attenuation);

/// The length in mm that 1 has in a phantom: half the width of the grid along x. The inscribed circle then
/// fits the grid.
double half_width(const VolumeGrid& grid);

/// The attenuation at a point, 1/mm; x, y and z in mm.
double value_at(const Phantom& phantom, double x, double y, double z);

/// The exact integral along a parallel ray: the line of points at height z with x cos a + y sin a = u, where
/// z and u are in mm and the angle a is in rad. Source: Kak and Slaney 1988, section 3.1.
double line_integral(const Phantom& phantom, double angle, double u, double z);

/// The exact integral along the line through two points, mm.
double line_integral(const Phantom& phantom, const std::array<double, 3>& from,
                     const std::array<double, 3>& to);

/// The height of a detector row, mm. The middle of the detector is at z = 0, as in `fitting_grid`.
double row_height(const ParallelBeam& scan, Index row);

/// Writes the exact line integrals of some rows, for all views and bins. `out` is (view, row, bin). Each
/// value is the mean over samples x samples rays in the cell; a cell of a parallel beam has one ray, through
/// its centre. @throws SpaceError if `out` has another size; GeometryError for rows that the scan does not
/// have
void project(const Phantom& phantom, const Scan& scan, Range rows, std::span<float> out, int samples = 1);

/// The same of those parts alone where the attenuation is above a value, 1/mm. Exact, with one ray in each
/// cell.
void project_dense(const Phantom& phantom, double above, const Scan& scan, Range rows, std::span<float> out);

/// The largest line integral of all cells in all views.
double largest_line_integral(const Phantom& phantom, const Scan& scan);

/// Writes pixel averages of some slices. `out` is (slice, y, x), 1/mm. Each pixel is the mean over samples x
/// samples points in the plane through the middle of the slice. So a slice is a cut through the body, as a
/// detector row sees it. @throws SpaceError if `out` has another size; GeometryError for slices that the grid
/// does not have
void voxelise(const Phantom& phantom, const VolumeGrid& grid, Range slices, std::span<float> out,
              int samples = 16);

}  // namespace tandem
