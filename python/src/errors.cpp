#include "../../core/error.hpp"
#include "bindings.hpp"

namespace tandem::python {

namespace {

/// Raises the class of the package that has this name.
void raise(const char* name, const std::exception& error) {
  const nb::object kind = nb::module_::import_("tandem._errors").attr(name);
  PyErr_SetString(kind.ptr(), error.what());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const GeometryError& e) {
    raise("GeometryError", e);
  } catch (const SpaceError& e) {
    raise("SpaceError", e);
  } catch (const DeviceError& e) {
    raise("DeviceError", e);
  } catch (const FileError& e) {
    raise("FileError", e);
  } catch (const Error& e) {
    raise("Error", e);
  }
}

}  // namespace

void add_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace tandem::python
