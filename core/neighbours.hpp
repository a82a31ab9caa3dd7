#pragma once

// Used only within core/.

#include <optional>
#include <vector>

namespace tandem {

/// The processes of other ranks on this machine. The kernel says at once when one of them has ended, whatever
/// ended it; nothing is guessed from how long a rank is silent. A rank on another machine, or in a container
/// that hides its processes, is not watched.
class Neighbours {
 public:
  Neighbours() = default;
  Neighbours(int rank, int size);  ///< all ranks
  Neighbours(Neighbours&&) = default;
  Neighbours& operator=(Neighbours&&) = default;

  /// A rank that has ended, each once; waits for so long if none has.
  std::optional<int> ended_within(int milliseconds);
  /// Whether all ranks of this machine with lower numbers than this one have ended.
  bool is_lowest() const;

 private:
  int own_ = 0;
  struct Process {
    int rank;
    int handle;
  };
  std::vector<Process> alive_;
};

}  // namespace tandem
