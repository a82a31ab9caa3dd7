#pragma once

#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "range.hpp"

namespace tandem {

/// An item on its way along a conveyor.
struct Item {
  Index number = 0;  ///< from 0
  Index place = 0;   ///< of its data: no other item that is on its way has the same
  Index worker = 0;  ///< who works on it: this worker has no other item at the same time
};

/// Whether a helper takes the first item of `left`: if it is done with it no later than the others could be
/// with all of `left`. `left`: the sizes of the items that nobody has taken yet. `own`, `theirs`: seconds for
/// one unit of size. `busy`: in how many seconds each of the others is free; who is free first takes the next
/// item. So no item that a helper takes makes the whole last longer.
bool helper_takes(std::span<const double> left, double own, double theirs, std::vector<double> busy);

/// Where items wait for workers, in the order in which they come. Who is free takes the next one, but the
/// last worker may be a helper, of another kind than the others and slower than them. It is asked only while
/// all others are at work, and if nearly always, when one of them was done, another item waited already:
/// where something else keeps them waiting, there is nothing to help with. It takes an item only if
/// `helper_takes` says that this does not hold up the others. Their seconds are the fewest that any of their
/// items took. It waits for item `first_for_helper`: by then they have shown their speed. Its own are the
/// mean of its items so far and a quarter more; before the first one, it is believed to be `believed` times
/// as slow as they are. The others take what comes, so nothing is left lying. The desk reads no clock: `now`
/// is in seconds.
class Desk {
 public:
  static constexpr double believed = 300, spare = 1.25, nearly_all = 0.9;
  /// Three rounds of the others, of which the first does not count: it makes what all later ones use.
  static constexpr Index first_for_helper(Index others) { return 3 * others; }

  /// `sizes`: of all items, above 0, if the last worker is a helper, who is not the only worker; else empty.
  Desk(Index workers, std::vector<double> sizes);
  void add(const Item& item) { waiting_.push_back(item); }
  /// An item that a worker is to begin with now; empty if all that wait have to go on waiting.
  std::optional<Item> next(double now);
  void end(const Item& item, double now);  ///< it is done, and its worker is free

 private:
  struct Worker {
    bool at_work = false;
    double since = 0, size = 0;  ///< of what it works on
  };
  Index others() const { return static_cast<Index>(workers_.size()) - 1; }
  bool is_helper(std::size_t worker) const { return !sizes_.empty() && worker + 1 == workers_.size(); }
  bool helper_takes_next(double now) const;
  bool others_are_short() const;  ///< more of them would end earlier

  std::vector<double> sizes_;
  std::vector<Worker> workers_;
  std::deque<Item> waiting_;
  double helped_size_ = 0, helped_seconds_ = 0;  ///< what the helper has done
  std::optional<double> fastest_;                ///< seconds for one unit of size, of all others
  Index ended_ = 0, followed_ = 0;  ///< items of the others, without the first round; by one that waited
};

}  // namespace tandem
