#include "../../core/error.hpp"
#include "../../core/parallel.hpp"
#include "../../core/version.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

/// Lets go of a Python object from any thread; not when Python has ended.
void release(nb::object* object) {
  if (!nb::is_alive()) return;
  const nb::gil_scoped_acquire gil;
  delete object;
}

std::vector<std::string> names_of_devices() {
  std::vector<std::string> names;
  for (const Device device : devices()) names.push_back(device.name());
  return names;
}

/// Limits all loops of the process; 0: all cores.
void set_threads(int count) {
  require<GeometryError>(count >= 0, "set_threads: ", count, " threads; 0 (all cores) or more are needed");
  static std::unique_ptr<ThreadLimit> limit;
  limit.reset();
  if (count > 0) limit = std::make_unique<ThreadLimit>(count);
}

}  // namespace

Stream stream_of_caller(Device device, Address native) {
  if (!device.is_cuda()) return default_stream(device);
  return Stream::foreign(device, {std::shared_ptr<void>(), reinterpret_cast<void*>(native)});  // owns nothing
}

Stream stream_of_caller(Device device, Address native, nb::object keeper) {
  if (!device.is_cuda()) return default_stream(device);
  auto* kept = new nb::object(std::move(keeper));
  return Stream::foreign(device, {reinterpret_cast<void*>(native), [kept](void*) { release(kept); }});
}

OnStream::OnStream(const Stream& stream) {
  if (!stream.device().is_cuda()) return;
  keep_.emplace(stream.device());
  use_.emplace(stream);
}

void raise_if_signalled() {
  require<Error>(!is_ending(), "run: Python ends");
  const nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace tandem::python

NB_MODULE(_core, m) {
  using namespace tandem;
  using namespace nanobind::literals;
  nanobind::set_leak_warnings(false);  // Python may end with arrays and operators alive
  python::wait_at_exit(m);
  python::add_errors(m);
  m.attr("version") = TANDEM_VERSION;
  m.def("cuda_version", &cuda_version,
        "The version of the CUDA runtime of this build, for example '13.0'; empty without CUDA.");
  m.def("devices", &python::names_of_devices);
  m.def(
      "description", [](const std::string& name) { return description(Device::named(name)); },
      "What the vendor calls a device, 'cpu' or 'cuda:N'; of the CPU also its set of instructions, which the "
      "environment variable TANDEM_SIMD can choose. Raises DeviceError if it is not here.");
  m.def("device_name", [](const std::string& name) { return Device::named(name).name(); });
  m.def("thread_count", &thread_count, "How many threads loops take on the CPU.");
  m.def("set_threads", &python::set_threads, "count"_a,
        "How many threads loops take on the CPU from now on; 0: all cores.");
  python::add_geometry(m);
  python::add_phantoms(m);
  python::add_operators(m);
  python::add_tensors(m);
  python::add_regularisers(m);
  python::add_solvers(m);
  python::add_scans(m);
  python::add_commands(m);
  python::add_look(m);
}
