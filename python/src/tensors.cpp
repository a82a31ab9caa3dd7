#include "../../core/error.hpp"
#include "bindings.hpp"

// The short way for the most frequent argument: a tensor of torch that can be used where it lies. All facts
// about it come from torch, by names that are looked up without making a string.

namespace tandem::python {

namespace {

struct Name {
  nb::object text;
  explicit Name(const char* name) : text(nb::steal(PyUnicode_InternFromString(name))) {}
  nb::object of(nb::handle object) const {
    return nb::steal(checked(PyObject_GetAttr(object.ptr(), text.ptr())));
  }
  template <class... Arguments>
  nb::object call(nb::handle object, Arguments... arguments) const {
    PyObject* const all[] = {object.ptr(), arguments.ptr()...};
    return nb::steal(checked(PyObject_VectorcallMethod(text.ptr(), all, std::size(all), nullptr)));
  }

 private:
  static PyObject* checked(PyObject* result) {
    if (!result) throw nb::python_error();
    return result;
  }
};

/// The objects and names of torch with which tensors are compared, and for which they are asked. They stay
/// until the process ends.
struct Torch {
  nb::object tensor, float32, strided, raw_stream;
  Name dtype{"dtype"}, layout{"layout"}, requires_grad{"requires_grad"}, is_contiguous{"is_contiguous"},
      is_neg{"is_neg"}, is_cpu{"is_cpu"}, is_cuda{"is_cuda"}, get_device{"get_device"}, shape{"shape"},
      new_empty{"new_empty"}, data_ptr{"data_ptr"};

  explicit Torch(const nb::object& module)
      : tensor(module.attr("Tensor")),
        float32(module.attr("float32")),
        strided(module.attr("strided")),
        raw_stream(nb::getattr(module.attr("_C"), "_cuda_getCurrentRawStream", nb::none())) {}
};
const Torch* torch = nullptr;

void know_torch(const nb::object& module) {
  if (!torch) torch = new Torch(module);
}

bool is_true(const nb::object& value) { return value.ptr() == Py_True; }

/// An operator, for tensors whose last axes are `here`; in results these are `there`.
class OnTensors {
 public:
  OnTensors(LinearOperator A, std::vector<Index> here, std::vector<Index> there)
      : A_(std::move(A)), device_(A_.domain().device()), here_(std::move(here)), there_(std::move(there)) {}

  /// alpha A x, or None if x is no such tensor; with `untracked` also None if x needs a gradient. Then the
  /// long way says what is wrong, if anything is.
  nb::object apply(nb::handle x, float alpha, bool untracked) const {
    if (!torch || nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(x.ptr()))).ptr() != torch->tensor.ptr())
      return nb::none();
    Call call;
    try {
      if ((untracked && is_true(torch->requires_grad.of(x))) || !fits(x) || !prepare(x, call))
        return nb::none();
    } catch (const nb::python_error&) {  // torch has no memory, or the tensor has no address
      return nb::none();
    }
    apply_at(A_, alpha, call.in, 0, call.out, call.count, call.stream);
    return call.result;
  }

 private:
  struct Call {
    nb::object result{};
    Address in = 0, out = 0, stream = 0;
    Index count = 1;
  };

  bool fits(nb::handle x) const {
    if (torch->dtype.of(x).ptr() != torch->float32.ptr() ||
        torch->layout.of(x).ptr() != torch->strided.ptr() || !is_true(torch->is_contiguous.call(x)) ||
        is_true(torch->is_neg.call(x)))
      return false;
    if (!device_.is_cuda()) return is_true(torch->is_cpu.of(x));
    return is_true(torch->is_cuda.of(x)) && !torch->raw_stream.is_none() &&
           nb::cast<int>(torch->get_device.call(x)) == device_.ordinal();
  }

  bool prepare(nb::handle x, Call& call) const {
    const nb::object shape = torch->shape.of(x);
    const std::size_t axes = nb::len(shape), own = here_.size();
    if (axes < own) return false;
    const std::size_t batch = axes - own;
    const nb::object wanted = nb::steal(PyTuple_New(batch + there_.size()));
    const auto set = [&](std::size_t axis, Index extent) {
      PyTuple_SetItem(wanted.ptr(), axis, PyLong_FromLongLong(extent));
    };
    for (std::size_t i = 0; i < axes; ++i) {
      const auto extent = nb::cast<Index>(shape[i]);
      if (i >= batch && extent != here_[i - batch]) return false;
      if (i < batch) set(i, extent), call.count *= extent;
    }
    for (std::size_t i = 0; i < there_.size(); ++i) set(batch + i, there_[i]);
    call.result = torch->new_empty.call(x, wanted);
    call.in = nb::cast<Address>(torch->data_ptr.call(x));
    call.out = nb::cast<Address>(torch->data_ptr.call(call.result));
    if (device_.is_cuda()) call.stream = nb::cast<Address>(torch->raw_stream(device_.ordinal()));
    return true;
  }

  LinearOperator A_;
  Device device_;
  std::vector<Index> here_, there_;
};

}  // namespace

void add_tensors(nb::module_& m) {
  m.def("know_torch", &know_torch);
  nb::class_<OnTensors>(m, "OnTensors")
      .def(nb::init<LinearOperator, std::vector<Index>, std::vector<Index>>())
      .def("apply", &OnTensors::apply, "x"_a.none(), "alpha"_a, "untracked"_a);
}

}  // namespace tandem::python
