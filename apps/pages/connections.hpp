#pragma once

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace tandem::apps {

/// The connections of a server, each with a thread. There are never more than `most`, so that silent
/// connections neither keep others waiting nor take the file handles that a run itself needs.
class Connections {
 public:
  static constexpr int most = 7;

  struct One {
    int socket;
    enum { silent, asked, answered, ended } state = silent;
  };

  /// Makes room for one more connection. If there is none, it ends the connection that has been silent for
  /// longest, or else one that has its answer. Waits at most a tenth of a second; false if all are still
  /// being answered.
  bool admit();
  One& begin(int socket);  ///< @pre it was admitted
  /// Notes that a connection has sent all of what it asks, and may ask it, so that it is no longer silent.
  void ask(One& one);
  /// Tells the other side that the answer is over, reads until it closes, and then closes. If the connection
  /// were closed before all that it sent was read, a browser could lose the answer. Not more is read than a
  /// MiB, nor for longer than the server waits.
  void finish(One& one);
  /// Waits, at most so long, until all that have asked have their whole answers. True if some had asked, and
  /// have them now.
  bool wait_for_answers(std::chrono::duration<double> longest);
  /// Ends silent connections at once, and the others when they have their answer, or after a quarter of a
  /// second.
  void end_all();

 private:
  bool one_waits() const;
  bool end_first(int state);

  std::mutex mutex_;
  std::condition_variable change_;
  int admitted_ = 0;
  bool over_ = false;
  std::list<One> all_;  ///< connections, the oldest first
};

}  // namespace tandem::apps
