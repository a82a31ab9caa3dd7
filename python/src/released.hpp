#pragma once

#include <nanobind/nanobind.h>

namespace tandem::python {

/// As long as it lives, other threads run Python while this one computes: the GIL is released.
///
/// A daemon thread that asks for the GIL when Python has ended is unwound by force, which C++ answers with an
/// abort. So Python waits at its end until all that is computed has come back, and what then begins anew
/// stands still.
class Released {
 public:
  Released();
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether Python is about to end: long work of other threads gives up.
bool is_ending();

/// Lets Python wait at its end, as said above.
void wait_at_exit(nanobind::module_& m);

}  // namespace tandem::python
