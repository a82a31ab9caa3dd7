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

/// From now on SIGINT, SIGTERM, SIGHUP, SIGXFSZ and SIGXCPU end the program in order and leave nothing
/// behind. A loop that asks throws. If no loop asks for half a second, a thread removes what was begun and
/// ends the program. A signal of the same kind that comes later than half a second after it ends the program
/// at once. Signals that the parent ignores stay ignored. A write to a closed pipe fails as any other write.
void catch_signals();
/// How long the program has from then on to end by itself, s. By `give_time`, more after SIGTERM, with which
/// schedulers announce that they end a program: for a check-point. `together`: no rank writes one alone, so
/// that there is no more time when another rank has failed.
double time_to_end();
void give_time(double seconds, bool together);
/// For ranks that go through a loop together and write a check-point together: all of them ask, once an
/// iteration. True on all if one of them caught SIGTERM. Until `hear_alone`, none of them leaves the loop for
/// a SIGTERM that the others have not heard.
bool hear_together(const Comm& ranks);
void hear_alone();
int caught_signal();          ///< its number; 0 if none came
void throw_if_interrupted();  ///< @throws Interrupted if one came, or if all ranks end

/// The first thread that calls this may write the last line of the program. Any other thread waits here until
/// the program ends.
void take_last_word();

/// Opens standard streams that are closed on /dev/null, so that no file gets their numbers.
void open_standard_streams();

/// The outputs that are complete and have their final names, in words: "; written and whole: volume.h5".
/// Empty if there are none. The first `before` of them are left out.
std::string words_on_published(std::size_t before = 0);

}  // namespace tandem::apps
