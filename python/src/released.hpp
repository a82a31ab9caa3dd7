#pragma once

#include <nanobind/nanobind.h>

namespace tandem::python {

/// Releases the GIL, as long as the object lives, so that other threads run Python while this one computes.
///
/// If a daemon thread asks for the GIL when Python has ended, Python unwinds it by force, and C++ aborts. So
/// Python waits at its end until all computing threads have returned, and threads that begin afterwards stand
/// still.
class Released {
 public:
  Released();
  ~Released();
  Released(Released&&) = delete;

 private:
  PyThreadState* state_;
};

/// Whether Python is about to end, so that long work of other threads has to give up.
bool is_ending();

/// Lets Python wait at its end, as said above.
void wait_at_exit(nanobind::module_& m);

}  // namespace tandem::python
