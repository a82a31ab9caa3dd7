#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "space.hpp"

namespace tandem {

/// An item on its way along a conveyor.
struct Item {
  Index number = 0;  ///< counted from 0
  Index place = 0;   ///< where its data lie: no other item on its way has the same
  Index worker = 0;  ///< works on it, and on no other item at the same time
};

/// Whether a helper takes the first item of `left`. The helper takes the item if it ends before the others
/// can finish everything in `left`, or at the same time: then no item of a helper makes the whole last
/// longer. `left`: sizes of the items that nobody has taken yet. `own`, `theirs`: seconds for one unit of
/// size, of the helper and of the others. `busy`: in how many seconds each of the others is free. The one
/// that is free first takes the next item.
bool helper_takes(std::span<const double> left, double own, double theirs, std::vector<double> busy);

/// A queue in which items wait for workers, in the order in which they come. A worker that is free takes the
/// next one.
///
/// The last worker may be a helper, which is of another kind than the others and slower. It is asked only
/// while all others are at work, and only if another item waited nearly always when one of them was done:
/// otherwise something else keeps them waiting, and there is nothing to help with. It takes an item only if
/// `helper_takes` says that this does not hold up the others, and none before item `first_for_helper`: by
/// then the others have shown their speed.
///
/// The seconds of the others are the fewest that any of their items took. The seconds of the helper are the
/// mean of its items so far and a quarter more; before its first item it is taken to be `believed` times as
/// slow as the others. The others take what comes, so nothing is left lying. The desk reads no clock: `now`
/// is in seconds.
class Desk {
 public:
  static constexpr double believed = 300, spare = 1.25, nearly_all = 0.9;
  /// Three rounds of the others, of which the first does not count: it makes what all later ones use.
  static constexpr Index first_for_helper(Index others) { return 3 * others; }

  /// `sizes`: the size of each item, above 0, if the last worker is a helper beside others; else empty.
  Desk(Index workers, std::vector<double> sizes);
  void add(const Item& item) { waiting_.push_back(item); }
  /// An item that a worker is to begin with now; empty if all that wait have to go on waiting.
  std::optional<Item> next(double now);
  void end(const Item& item, double now);  ///< it is done, and its worker is free

 private:
  struct Worker {
    bool at_work = false;
    double since = 0, size = 0;  ///< when its item began, and the size of the item
  };
  Index others() const { return workers_.size() - 1; }
  bool is_helper(std::size_t worker) const { return !sizes_.empty() && worker + 1 == workers_.size(); }
  bool helper_takes_next(double now) const;
  bool others_are_short() const;  ///< whether another worker of their kind would end earlier

  std::vector<double> sizes_;
  std::vector<Worker> workers_;
  std::deque<Item> waiting_;
  double helped_size_ = 0, helped_seconds_ = 0;  ///< what the helper has done
  std::optional<double> fastest_;                ///< seconds for one unit of size, of all others
  /// Items of the others after the first round; of these, followed by one that waited.
  Index ended_ = 0, followed_ = 0;
};

}  // namespace tandem
