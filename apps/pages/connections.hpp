#pragma once

#include <condition_variable>
#include <list>
#include <mutex>

namespace tandem::apps {

/// The connections of a server, of which each has a thread. There are never more than `most`, so that silent
/// ones neither keep others waiting nor take the files that a run itself needs.
class Connections {
 public:
  static constexpr int most = 7;

  struct One {
    int socket;
    enum { silent, asked, answered, ended } state = silent;
  };

  /// Makes room for one more: if there is none, ends the one that has been silent for longest, or else one
  /// that has its answer. Waits a tenth of a second at most; false if all are still being answered.
  bool admit();
  One& begin(int socket);  ///< @pre it was admitted
  /// It has asked, so it is not silent any more.
  void ask(One& one);
  /// Tells the other side that the answer is over, and reads until it closes: were the connection closed on
  /// what it has sent, a browser could lose the answer. Then closes.
  void finish(One& one);
  /// Ends silent connections at once, and all others when they have their answer, or after a quarter of a
  /// second.
  void end_all();

 private:
  bool end_first(int state);

  std::mutex mutex_;
  std::condition_variable change_;
  int admitted_ = 0;
  bool over_ = false;
  std::list<One> all_;  ///< the oldest first
};

}  // namespace tandem::apps
