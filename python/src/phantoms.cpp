#include "../../geometry/phantom.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

std::span<float> floats_at(Address at, Index count) { return std::span(reinterpret_cast<float*>(at), count); }

void project_to(const Phantom& phantom, const Scan& scan, Address out, int samples) {
  const Released released;
  const EndedBySignals signals;
  const Range rows{0, detector_of(scan).rows};
  const std::span<float> data = floats_at(out, projection_space(scan).size());
  project(phantom, scan, rows, data, samples);
}

void voxelise_to(const Phantom& phantom, const VolumeGrid& grid, Address out, int samples) {
  const Released released;
  const EndedBySignals signals;
  const auto [nz, ny, nx] = grid.shape();
  voxelise(phantom, grid, {0, nz}, floats_at(out, nz * ny * nx), samples);
}

void add_named_phantoms(nb::module_& m) {
  m.def("shepp_logan", &shepp_logan,
        "The modified Shepp-Logan phantom in [-1, 1]^3; every slice is the same.");
  m.def("shepp_logan_in_space", &shepp_logan_in_space,
        "The same for cone beams: the third semi-axis is the second.");
  m.def("disc", &disc, "One cylinder of radius 0.5, centre (0.2, 0.1), attenuation 1.");
  m.def("ellipsoids", &ellipsoids, "A sphere with six ellipsoids of both signs; no two slices are alike.");
  m.def("plate", &plate, "A flat ellipsoid with small ones in it, for laminography.");
  m.def("balls", &balls, "Twelve small ones on a screw, no two at one height, for calibration.");
  m.def("pins", &pins, "A body with a hole, an insert and two pins that are ten times as dense.");
  m.def("foam", &foam, "seed"_a = 0, "A cylinder with spheres of air of many sizes, which do not overlap.");
}

}  // namespace

void add_phantoms(nb::module_& m) {
  auto ellipsoid =
      nb::class_<Ellipsoid>(
          m, "Ellipsoid",
          "Constant attenuation (1/mm) within semi_axes (mm), about a centre (mm), turned about z. An "
          "infinite third semi-axis makes it a cylinder.")
          .def_ro("attenuation", &Ellipsoid::attenuation, "1/mm; what overlaps adds up.")
          .def_ro("semi_axes", &Ellipsoid::semi_axes, "Along its own x, y and z, mm.")
          .def_ro("centre", &Ellipsoid::centre, "(x, y, z), mm.")
          .def_ro("rotation_rad", &Ellipsoid::rotation, "About z, rad.");
  add_constructor<Ellipsoid>(
      m, ellipsoid, "Ellipsoid",
      "attenuation: float, semi_axes: typing.Sequence[float], centre: typing.Sequence[float] = (0.0, 0.0, "
      "0.0), "
      "rotation_rad: float = 0.0",
      [](double attenuation, const std::array<double, 3>& semi_axes, const std::array<double, 3>& centre,
         double rotation) {
        const Ellipsoid made{attenuation, semi_axes, centre, rotation};
        validate(made);
        return made;
      },
      "attenuation"_a, "semi_axes"_a, "centre"_a = std::array<double, 3>{}, "rotation_rad"_a = 0.0);
  auto phantom =
      nb::class_<Phantom>(
          m, "Phantom",
          "A body whose attenuation and line integrals are known in closed form: a sum of ellipsoids.")
          .def_prop_ro(
              "ellipsoids", [](const Phantom& p) { return p.ellipsoids; },
              "All of them; attenuations add up where they overlap.")
          .def(
              "scaled",
              [](const Phantom& p, double length, double attenuation) {
                return scaled(p, length, attenuation);
              },
              "length"_a, "attenuation"_a = 1.0, "With all lengths and all attenuations multiplied.");
  add_constructor<Phantom>(
      m, phantom, "Phantom", "ellipsoids: typing.Sequence[Ellipsoid]",
      [](std::vector<Ellipsoid> ellipsoids) { return Phantom{std::move(ellipsoids)}; }, "ellipsoids"_a);
  add_named_phantoms(m);
  m.def("half_width", &half_width, "grid"_a,
        "Half the width of a grid, mm: what 1 becomes in a phantom that fits it.");
  m.def("project_to", &project_to);
  m.def("voxelise_to", &voxelise_to);
}

}  // namespace tandem::python
