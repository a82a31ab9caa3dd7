#include <utility>

#include "../../operators/algebra.hpp"
#include "../../operators/vector.hpp"
#include "../../solvers/regulariser.hpp"
#include "../../solvers/weight_search.hpp"
#include "bindings.hpp"
#include "equations.hpp"

namespace tandem::python {

namespace {

/// Changes a vector where it lies, with a step for each block; and the value there, a number for each block.
using OwnProximalMap = std::function<void(Address, std::vector<float>)>;
using OwnValue = std::function<std::vector<double>(Address)>;

Regulariser own_regulariser(const LinearOperator& K, double norm_squared, OwnProximalMap prox,
                            OwnValue value) {
  return regulariser_of(
      K, norm_squared,
      [prox = std::move(prox)](VectorView v, std::span<const float> steps, Stream&) {
        prox(reinterpret_cast<Address>(v.data), {steps.begin(), steps.end()});
      },
      [value = std::move(value)](ConstVectorView Kx, Stream&) {
        return value(reinterpret_cast<Address>(Kx.data));
      });
}

WeightFound found_weight(const LinearOperator& A, const Given& given, const Regulariser& regulariser,
                         const Bounds& bounds, const LinearOperator& other, const LinearOperator& F,
                         const LinearOperator& F_of_other) {
  const Device device = A.domain().device();
  Stream stream = stream_of_caller(device, given.native, given.keeper);
  const Released released;
  const OnStream on(stream);
  const EndedBySignals signals(device);
  std::optional<Array> weights;
  if (given.data_weights) weights = copied("data_weights", A.range(), given.data_weights, stream);
  const auto aliases = [&](const Array& x) {
    Array made = F_of_other * (other * x);
    axpby(-0.5f, F * (A * x), 0.5f, made, stream);
    return made;
  };
  return find_weight(
      A, copied("b", A.range(), given.b, stream),
      {copied("F", A.domain(), given.x0, stream), copied("F", A.domain(), given.other, stream), aliases},
      regulariser, std::move(weights), with_given(bounds, A.domain(), given, stream));
}

void add_weight(nb::module_& m) {
  nb::class_<WeightTrial>(
      m, "WeightTrial", "A weight of a regulariser, and how far its solution is from views it has not seen.")
      .def_ro("weight", &WeightTrial::weight, "W of the regulariser, for all views.")
      .def_ro("error", &WeightTrial::error,
              "The root of the mean square of its differences to the other half.");
  nb::class_<WeightFound>(m, "WeightFound", "A weight that was found by cross-validation.")
      .def_ro("weight", &WeightFound::weight, "For Pdhg and Fista and all views; 0 if there is no noise.")
      .def_ro("trials", &WeightFound::trials, "In their order.")
      .def_ro("applications", &WeightFound::applications, "Applications of A or its adjoint.");
  m.def("find_weight", &found_weight);
}

}  // namespace

void add_regularisers(nb::module_& m) {
  nb::class_<Regulariser>(m, "Regulariser", nb::dynamic_attr(),
                          "A convex function of a volume that Pdhg and Fista keep small.");
  m.def("total_variation", &total_variation, "volume"_a, "scales"_a = std::array<float, 3>{1, 1, 1},
        "shear"_a = 0.0f,
        "The sum of the lengths of the gradient; scales: factors of differences along (slice, y, x).");
  m.def("tikhonov", &tikhonov, "volume"_a, "Half the sum of squares of all voxels: Tikhonov's regulariser.");
  m.def("own_regulariser", &own_regulariser);
  m.def("huber_total_variation", &huber_total_variation, "volume"_a, "threshold"_a,
        "scales"_a = std::array<float, 3>{1, 1, 1}, "shear"_a = 0.0f,
        "The same, with squares below a threshold: no staircases.");
  auto bounds = nb::class_<Bounds>(m, "Bounds", "Values between which a solver keeps all voxels.")
                    .def_ro("lowest", &Bounds::lowest, "The least of any voxel, in the unit of the volume.")
                    .def_ro("highest", &Bounds::highest, "The greatest of any voxel.");
  add_constructor<Bounds>(
      m, bounds, "Bounds", "lowest: float = ..., highest: float = ...",
      [](float lowest, float highest) {
        const Bounds made{lowest, highest};
        validate(made);
        return made;
      },
      "lowest"_a = Bounds{}.lowest, "highest"_a = Bounds{}.highest);
  m.attr("above_zero") = nb::cast(above_zero);
  add_weight(m);
}

}  // namespace tandem::python
