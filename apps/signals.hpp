#pragma once

#include <stdexcept>
#include <string>

namespace tandem::apps {

/// A signal that ends the program came.
class Interrupted : public std::runtime_error {
 public:
  Interrupted();
};

/// From now on SIGINT, SIGTERM, SIGHUP and SIGXFSZ end the program in order, with nothing left behind: a loop
/// that asks throws; where none asks for half a second, a thread clears away what was begun and ends the
/// program. A second signal of a kind ends it at once. Signals that the parent ignores stay ignored. A closed
/// pipe is a failing write.
void catch_signals();
int caught_signal();          ///< its number; 0: none came
void throw_if_interrupted();  ///< @throws Interrupted once one came

/// The first thread that calls may write the program's last line; another one stays here until the program
/// ends.
void take_last_word();

/// Standard streams that are closed are opened on /dev/null, so that no file gets their numbers.
void open_standard_streams();

/// What stands whole under its final name: "; written and whole: volume.h5"; empty if nothing does.
std::string words_on_published();

}  // namespace tandem::apps
