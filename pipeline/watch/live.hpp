#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "../../core/space.hpp"
#include "../../io/png.hpp"

namespace tandem::pipeline {

/// A picture of a volume in the making. Pixels that are not made yet are NaN.
struct LivePicture {
  /// "newest" for the slice that was made last, "iterate" for a slice on which a solver works, and "z", "y",
  /// "x" for the middle planes.
  std::string name;
  Index index = 0;          ///< number of the plane along its normal
  Index count = 0;          ///< number of planes along that axis
  io::Picture grey;         ///< at most `live_side` pixels a side
  std::string detail = {};  ///< for an iterate: "iteration 10 of 60"
};
/// A function that shows pictures. It is called at most about once a second for results and once a second for
/// iterates, perhaps by two threads at once. The work waits meanwhile.
using OnPictures = std::function<void(std::vector<LivePicture>)>;

constexpr Index live_side = 1024;

/// The picture with at most `side` pixels a side. Each pixel is the mean of the finite pixels of a square;
/// NaN if none is finite.
io::Picture shrunk(std::span<const float> grey, Index width, Index height, Index side = live_side);

/// Shows pictures, but not too often: the first at once, each further one so many seconds after the one
/// before.
class LiveView {
 public:
  explicit LiveView(OnPictures show, double pause = 1) : show_(std::move(show)), pause_(pause) {}
  bool looks() const { return show_ != nullptr; }
  bool due() const;
  void show(std::vector<LivePicture> pictures);  ///< shows them even if none is due

 private:
  OnPictures show_;
  double pause_;
  double next_ = 0;  ///< when the next picture is due, by `seconds_now`
};

}  // namespace tandem::pipeline
