#pragma once

// Shared by the parts of the module `tandem._core`, which is private. The package `tandem` around it knows
// the arrays of its callers, and hands over addresses whose sizes it has checked.

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <string>

#include "../../core/array.hpp"
#include "../../core/device.hpp"
#include "../../core/interrupts.hpp"
#include "../../operators/linear_operator.hpp"
#include "released.hpp"

namespace tandem::python {

namespace nb = nanobind;
using namespace nb::literals;

void add_errors(nb::module_& m);
void add_geometry(nb::module_& m);
void add_phantoms(nb::module_& m);
void add_operators(nb::module_& m);
void add_tensors(nb::module_& m);
void add_regularisers(nb::module_& m);
void add_solvers(nb::module_& m);
void add_scans(nb::module_& m);
void add_commands(nb::module_& m);
void add_look(nb::module_& m);

using Address = std::uintptr_t;

/// A vector of the caller, who has checked that it has the size of the space.
inline VectorView lent(Address at, const Space& space) { return {reinterpret_cast<float*>(at), space}; }

/// The caller's stream on a GPU, null for the legacy default one, for as long as a call takes. On the CPU the
/// address does not count.
Stream stream_of_caller(Device device, Address native);
/// The caller's stream for longer than a call: `keeper`, which may be None, keeps it alive.
Stream stream_of_caller(Device device, Address native, nb::object keeper);

/// y <- alpha A x + beta y for `count` vectors that lie one after another, on the caller's stream. Releases
/// the GIL.
void apply_at(const LinearOperator& A, float alpha, Address x, float beta, Address y, Index count,
              Address native);

/// Makes this thread work on a stream of the caller, as long as the object lives. At its end the caller's
/// current GPU is set again. On the CPU it does nothing.
class OnStream {
 public:
  explicit OnStream(const Stream& stream);

 private:
  std::optional<KeepCurrentGpu> keep_;
  std::optional<UseStream> use_;
};

/// Sets the caller's current GPU again after work on a device.
class OnDevice {
 public:
  explicit OnDevice(Device device) {
    if (device.is_cuda()) keep_.emplace();
  }

 private:
  std::optional<KeepCurrentGpu> keep_;
};

/// Adds the constructor of a public class: `make`, with the parameters of the text. `_mistakes.made` of the
/// package mends arguments that `make` does not take, or says in one line what is wrong.
template <class T, class Class, class Make, class... Extra>
void add_constructor(nb::module_& m, Class& c, const std::string& name, const std::string& parameters,
                     const Make& make, const Extra&... extra) {
  m.def(("make_" + name).c_str(), make, extra...);
  const std::string on_new = "def __new__(cls, " + parameters + ") -> " + name,
                    on_init = "def __init__(self, " + parameters + ") -> None";
  c.def_static(
      "__new__",
      [name](nb::handle, const nb::args& args, const nb::kwargs& keywords) {
        return nb::cast<T>(nb::module_::import_("tandem._mistakes").attr("made")(name, args, keywords));
      },
      nb::sig(on_new.c_str()));
  c.def(
      "__init__", [](nb::handle, const nb::args&, const nb::kwargs&) {}, nb::sig(on_init.c_str()));
}

/// Raises KeyboardInterrupt, or what another handler of a signal raises, if a signal came. Takes the GIL.
void raise_if_signalled();

/// As long as it lives, a signal ends long work of this thread on the CPU. Work on a GPU is queued, and never
/// long; neither is that on vectors of so few elements, which this would delay.
class EndedBySignals {
 public:
  explicit EndedBySignals(Device device = Device::cpu(), Index elements = many) {
    if (!device.is_cuda() && elements >= many) interrupts_.emplace(&raise_if_signalled);
  }

 private:
  static constexpr Index many = 4096;
  std::optional<Interrupts> interrupts_;
};

}  // namespace tandem::python
