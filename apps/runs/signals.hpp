#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

#include "../../core/comm.hpp"

namespace tandem::apps {

/// A signal came that ends the program, or another rank failed.
class Interrupted : public std::runtime_error {
 public:
  Interrupted();
};

/// Makes SIGINT, SIGTERM, SIGHUP, SIGXFSZ and SIGXCPU end the program in order, so that nothing is left
/// behind. A loop that asks throws. If no loop asks for half a second, a thread removes what was begun and
/// ends the program. If a signal of the same kind comes again more than half a second later, the program ends
/// at once. Signals that the parent ignores stay ignored. A write to a closed pipe fails as any other write.
void catch_signals();
/// The seconds that the program may still run after a signal. After SIGTERM, which schedulers send before
/// they end a program, `give_time` allows more, for a check-point. `together`: ranks write check-points only
/// together, so that there is no more time if another rank has failed.
double time_to_end();
void give_time(double seconds, bool together);
/// Collective, for ranks that go through a loop and write check-points together: all of them ask once per
/// iteration. True on all if one of them caught SIGTERM. Until `hear_alone`, no rank leaves the loop for a
/// SIGTERM that others have not heard.
bool hear_together(const Comm& ranks);
void hear_alone();
int caught_signal();          ///< number of the signal that came; 0 if none
void throw_if_interrupted();  ///< @throws Interrupted if a signal came, or if all ranks end

/// Lets the first thread that calls it write the last line of the program. Any other thread waits here until
/// the program ends.
void take_last_word();

/// Opens standard streams that are closed on /dev/null, so that no file gets their numbers.
void open_standard_streams();

/// The outputs that are complete and have their final names, in words: "; written and whole: volume.h5".
/// Empty if there are none. The first `before` outputs are left out.
std::string words_on_published(std::size_t before = 0);

}  // namespace tandem::apps
