#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <vector>

#include "../../core/error.hpp"
#include "../../core/execution.hpp"
#include "../../core/names.hpp"
#include "../../operators/adjointness.hpp"
#include "../../operators/algebra.hpp"
#include "../../operators/fbp.hpp"
#include "../../operators/fourier.hpp"
#include "../../operators/gradient.hpp"
#include "../../operators/norms.hpp"
#include "../../operators/projector.hpp"
#include "../../operators/view_derivative.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

/// The options of an operator, which are several parameters in C++.
struct How {
  std::optional<Model> model{};
  Device device = Device::cpu();
  Execution execution{};
};

How make_how(const std::optional<std::string>& model, const std::string& device, const std::string& variant,
             const std::string& precision, double accuracy) {
  How how{.device = Device::named(device)};
  if (model) how.model = model_named(*model);
  how.execution.variant = variant;
  how.execution.precision = precision_named(precision);
  how.execution.accuracy = accuracy;
  return how;
}

LinearOperator make_projector(const Scan& scan, const VolumeGrid& grid, const How& how) {
  const OnDevice on(how.device);
  return projector(scan, grid, how.model, how.device, how.execution);
}

LinearOperator make_ramp_filter(const Scan& scan, const VolumeGrid& grid, const Filter& filter,
                                const How& how) {
  const OnDevice on(how.device);
  return ramp_filter(scan, grid, filter, how.model, how.device, how.execution);
}

LinearOperator make_fbp(const Scan& scan, const VolumeGrid& grid, const Filter& filter, const How& how) {
  const OnDevice on(how.device);
  return fbp(scan, grid, filter, how.model, how.device, how.execution);
}

LinearOperator make_backprojector(const Scan& scan, const VolumeGrid& grid, const How& how) {
  const OnDevice on(how.device);
  return backprojector(scan, grid, how.model, how.device, how.execution);
}

LinearOperator make_diagonal(const Space& space, Address weights, Address native) {
  Stream stream = stream_of_caller(space.device(), native);
  const OnStream on(stream);
  Array own(space);
  copy(lent(weights, space), own, stream);
  stream.synchronize();
  return diagonal(std::move(own));
}

/// Reads and writes where the addresses say; the package makes arrays of them.
using OnAddresses = std::function<void(Address in, Address out)>;

LinearOperator of_functions(const Space& domain, const Space& range, OnAddresses forward,
                            OnAddresses adjoint) {
  require<DeviceError>(!domain.device().is_cuda(), "make_operator: the space is on ", domain.device().name(),
                       "; operators of functions work on the cpu");
  const auto overwrite = [](OnAddresses map) {
    return [map = std::move(map)](ConstVectorView in, VectorView out, Stream&) {
      map(reinterpret_cast<Address>(in.data), reinterpret_cast<Address>(out.data));
    };
  };
  return make_operator(domain, range, overwrite(std::move(forward)), overwrite(std::move(adjoint)));
}

/// A map that checks for Ctrl-C before each application.
struct Watched {
  LinearOperator A;
  Space domain() const { return A.domain(); }
  Space range() const { return A.range(); }
  void apply(float alpha, ConstVectorView x, float beta, VectorView y, Stream& stream) const {
    raise_if_signalled();
    A.apply(alpha, x, beta, y, stream);
  }
  void apply_adjoint(float alpha, ConstVectorView y, float beta, VectorView x, Stream& stream) const {
    raise_if_signalled();
    A.apply_adjoint(alpha, y, beta, x, stream);
  }
};

/// Whether back-projection is the transpose of projection.
bool pair_is_matched(const Scan& scan, const VolumeGrid& grid, const How& how) {
  return is_matched(scan, grid, how.model, how.device, how.execution);
}

Space make_space(const Shape& shape, const std::string& device, const std::string& blocks) {
  constexpr std::array known{"whole", "slices", "rows"};
  return Space(shape, value_named<Blocks, SpaceError>(known, blocks, "blocks"), Device::named(device));
}

using AsTuple = std::tuple<Index, Index, Index>;

/// The shapes of all parts, and of the parts of parts, in the order of memory.
std::vector<AsTuple> shapes_of(const Space& space) {
  if (space.parts() == 1) return {std::tuple_cat(space.shape())};
  std::vector<AsTuple> shapes;
  for (int i = 0; i < space.parts(); ++i)
    for (const AsTuple& shape : shapes_of(space.part(i))) shapes.push_back(shape);
  return shapes;
}

/// What makes a space anew: (shape, blocks, device, key, whether it is split), or a list of parts.
nb::object stored(const Space& space) {
  if (space.parts() == 1)
    return nb::make_tuple(AsTuple(std::tuple_cat(space.shape())), static_cast<int>(space.blocks()),
                          space.device().name(), space.key(), space.spread() == Spread::split);
  nb::list parts;
  for (int i = 0; i < space.parts(); ++i) parts.append(stored(space.part(i)));
  return parts;
}

Space space_of(const nb::object& stored) {
  if (nb::isinstance<nb::list>(stored)) {
    std::vector<Space> parts;
    for (const nb::handle part : stored) parts.push_back(space_of(nb::borrow(part)));
    return Space::direct_sum(std::move(parts));
  }
  const auto [shape, blocks, device, key, is_split] =
      nb::cast<std::tuple<Shape, int, std::string, std::uint64_t, bool>>(stored);
  const Space space(shape, static_cast<Blocks>(blocks), Device::named(device), key);
  return is_split ? space.split() : space;
}

void add_space(nb::module_& m) {
  m.def("space_of", &space_of);
  m.def("stored", &stored);
  auto kind =
      nb::class_<Space>(
          m, "Space",
          "The vector space that an operator maps from or to: a shape (slice, y, x) or (view, row, bin) on a "
          "device, or a direct sum of spaces. Spaces of operators know the geometry behind the shape.\n\n"
          "blocks: 'whole', 'slices' (axis 0) or 'rows' (axis 1) are problems of their own for solvers.")
          .def_prop_ro(
              "shape", [](const Space& s) { return AsTuple(std::tuple_cat(s.shape())); },
              "Of its vectors; SpaceError for a direct sum.")
          .def_prop_ro("shapes", &shapes_of, "The shapes of all parts; of one, if it is no direct sum.")
          .def_prop_ro("size", &Space::size, "Numbers of a vector.")
          .def_prop_ro(
              "device", [](const Space& s) { return s.device().name(); },
              "Where vectors lie: 'cpu', 'cuda:0'.")
          .def_prop_ro(
              "blocks",
              [](const Space& s) {
                return std::string(s.blocks() == Blocks::whole    ? "whole"
                                   : s.blocks() == Blocks::slices ? "slices"
                                                                  : "rows");
              },
              "'whole', or what is a problem of its own: 'slices' or 'rows'.")
          .def_prop_ro("block_count", &Space::block_count,
                       "Problems of their own: the slices of a parallel beam, else 1.")
          .def(
              "zeros",
              [](const nb::object& space, const nb::object& like) {
                return nb::module_::import_("tandem._operator").attr("zeros")(space, like);
              },
              nb::sig("def zeros(self, like: typing.Any = None) -> typing.Any"), "like"_a = nb::none(),
              "A vector of zeros: an array of NumPy, or of the library of `like`, which a device other than "
              "the "
              "CPU needs; a tuple of arrays for a direct sum.")
          .def("fits", &Space::fits, "other"_a, "Whether vectors of the two can be added.")
          .def(
              "__eq__", [](const Space& a, const Space& b) { return a == b; }, nb::is_operator(),
              nb::sig("def __eq__(self, other: object, /) -> bool"));
  add_constructor<Space>(m, kind, "Space",
                         "shape: typing.Sequence[int], *, device: str = 'cpu', blocks: str = 'whole'",
                         &make_space, "shape"_a, nb::kw_only(), "device"_a = "cpu", "blocks"_a = "whole");
}

void add_filter(nb::module_& m) {
  nb::class_<How>(m, "How").def(nb::new_(&make_how));
  nb::class_<Filter>(m, "Filter")
      .def(nb::new_([](const std::string& window, std::optional<double> cutoff, const std::string& padding,
                       std::optional<Index> padding_bins, std::optional<double> attenuation) {
             return Filter{window_named(window), cutoff, padding_named(padding), padding_bins,
                           attenuation.value_or(0)};
           }),
           "window"_a, "cutoff"_a.none(), "padding"_a, "padding_bins"_a.none(), "attenuation"_a.none());
}

/// Numbers in double of the caller, who has checked how many there are.
std::span<const double> lent_doubles(Address at, Index count) {
  return std::span(reinterpret_cast<const double*>(at), count);
}
void give(const std::vector<double>& from, Address to) {
  std::copy(from.begin(), from.end(), reinterpret_cast<double*>(to));
}

LinearOperator make_view_derivative(const Scan& scan, const VolumeGrid& grid, Address x) {
  return view_derivative(scan, grid, lent(x, cone_volume_space(grid)));
}

void project_doubles(const Scan& scan, const VolumeGrid& grid, Address x, Address y) {
  give(project_in_double(scan, grid, lent_doubles(x, cone_volume_space(grid).size())), y);
}

void back_project_doubles(const Scan& scan, const VolumeGrid& grid, Address y, Address x) {
  give(back_project_in_double(scan, grid, lent_doubles(y, projection_space(scan).size())), x);
}

/// (view, 12)
void view_gradient(const Scan& scan, const VolumeGrid& grid, Address x, Address y, Address gradient) {
  auto* to = reinterpret_cast<double*>(gradient);
  for (const auto& [source, detector, bin, row] :
       gradient_by_views(scan, grid, lent_doubles(x, cone_volume_space(grid).size()),
                         lent_doubles(y, projection_space(scan).size())))
    for (const Vector3& vector : {source, detector, bin, row})
      to = std::copy(vector.begin(), vector.end(), to);
}

void add_makers(nb::module_& m) {
  const nb::call_guard<Released> released;
  m.def("view_derivative", &make_view_derivative, released);
  m.def("project_doubles", &project_doubles, released);
  m.def("back_project_doubles", &back_project_doubles, released);
  m.def("view_gradient", &view_gradient, released);
  m.def("projector", &make_projector, released);
  m.def("pair_is_matched", &pair_is_matched, released);
  m.def("ramp_filter", &make_ramp_filter, released);
  m.def("fbp", &make_fbp, released);
  m.def("backprojector", &make_backprojector, released);
  m.def("diagonal", &make_diagonal);
  m.def("of_functions", &of_functions);
  m.def("identity", &identity);
  m.def("gradient", &gradient);
  m.def("across", [](double angle, double ratio, std::array<float, 3> scales) {
    const Direction made = across(angle, ratio, scales);
    return std::pair(std::vector<float>(made.scales.begin(), made.scales.end()), made.shear);
  });
  m.def("unmatched_pair", &unmatched_pair);
  m.def("vstack", &vstack);
  m.def("hstack", &hstack);
}

}  // namespace

void apply_at(const LinearOperator& A, float alpha, Address x, float beta, Address y, Index count,
              Address native) {
  const Space domain = A.domain(), range = A.range();
  const Released released;
  Stream stream = stream_of_caller(domain.device(), native);
  const OnStream on(stream);
  const EndedBySignals signals(domain.device(), count * (domain.size() + range.size()));
  A.apply(alpha, lent(x, domain), beta, lent(y, range), {count, domain.size(), range.size()}, stream);
}

void add_operators(nb::module_& m) {
  add_space(m);
  add_filter(m);
  nb::class_<LinearOperator>(m, "Operator")
      .def_prop_ro("domain", &LinearOperator::domain)
      .def_prop_ro("range", &LinearOperator::range)
      .def("adjoint", [](const LinearOperator& A) { return adjoint(A); })
      .def("product", [](const LinearOperator& A, const LinearOperator& B) { return A * B; })
      .def("sum", [](const LinearOperator& A, const LinearOperator& B) { return A + B; })
      .def("difference", [](const LinearOperator& A, const LinearOperator& B) { return A - B; })
      .def("scaled", [](const LinearOperator& A, float s) { return s * A; })
      .def("apply", &apply_at);
  add_makers(m);
  const nb::call_guard<Released> released;
  nb::class_<Adjointness>(
      m, "Adjointness",
      "How well A and the B that serves as its adjoint match. coupling: mean of <Ax, y> / <x, By>, which "
      "sees scale alone; mismatch: an estimate of |A - Bt| / |A| (Frobenius), which sees every difference.")
      .def_ro("coupling", &Adjointness::coupling,
              "Mean of <A x, y> / <x, B y>, entries uniform in [0, 1): it sees scale alone.")
      .def_ro("coupling_spread", &Adjointness::coupling_spread, "Its standard deviation over the trials.")
      .def_ro("mismatch", &Adjointness::mismatch,
              "An estimate of |A - Bt| / |A| (Frobenius), from vectors of +1 and -1.");
  m.def(
      "adjointness",
      [](const LinearOperator& A, int trials, unsigned seed) {
        const OnDevice on(A.domain().device());
        const EndedBySignals signals(A.domain().device());
        return adjointness(Watched{A}, trials, seed);
      },
      released);
  m.def(
      "operator_norm",
      [](const LinearOperator& A, int iterations, unsigned seed) {
        const OnDevice on(A.domain().device());
        const EndedBySignals signals(A.domain().device());
        return operator_norm(Watched{A}, iterations, seed);
      },
      released);
}

}  // namespace tandem::python
