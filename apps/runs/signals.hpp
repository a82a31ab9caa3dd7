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

/// Makes SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXFSZ and SIGXCPU end the program in order, so that nothing is
/// left behind. A loop that asks throws. If no loop asks for half a second, a thread removes what was begun
/// and ends the program. If a signal of the same kind comes again more than half a second later, the program
/// ends at once. Signals that the parent ignores stay ignored. A write to a closed pipe fails as any other
/// write.
void catch_signals();
/// The seconds that the program may still run after a signal: half a second; more once `wait_for_checkpoints`
/// was called, unless the disk is full (SIGXFSZ).
double time_to_end();
/// Lets the step at work end, for a check-point: after SIGINT and SIGUSR1, which people and schedulers send
/// ahead, as long as it takes; after others 25 s, since schedulers kill soon. `tells`: whether a line says
/// so. `together`: ranks write check-points only together, so that there is no more time if another rank has
/// failed.
void wait_for_checkpoints(bool tells, bool together);
/// Whether a signal came after which a check-point is written. With several `ranks`, which go through a loop
/// and write check-points together, all of them ask once per iteration, and all get the same answer. Until
/// `hear_alone`, no loop ends for a signal that came after it asked: the next step is kept first.
bool asks_for_checkpoint(const Comm& ranks);
void hear_alone();
/// Whether the program writes something: if not, its end by a signal says nothing of outputs. Default: it
/// does.
void expect_outputs(bool expected);
/// Adds words to the message of `Interrupted`, also where a thread ends the program.
void say_when_interrupted(const std::string& words);
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
