#include "released.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace tandem::python {

namespace {

namespace nb = nanobind;

std::atomic<int> working{0};
std::atomic<bool> ending{false};

/// Waits for all work, for at most ten seconds, because a function of the user may never return.
void end() {
  ending = true;
  const nb::gil_scoped_release released;
  for (int i = 0; i < 10'000 && working > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

Released::Released() {
  const bool late = ending;
  if (!late) ++working;
  state_ = PyEval_SaveThread();
  while (late) ::pause();
}

Released::~Released() {
  PyEval_RestoreThread(state_);
  --working;
}

bool is_ending() { return ending; }

void wait_at_exit(nb::module_& m) {
  m.def("_end", &end);
  nb::module_::import_("atexit").attr("register")(m.attr("_end"));
  ::pthread_atfork(nullptr, nullptr, [] { working = 0; });  // other threads are not there in a child
}

}  // namespace tandem::python
