#include "live.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../../core/ceil_div.hpp"
#include "../../core/parallel.hpp"
#include "../../solvers/run.hpp"

namespace tandem::pipeline {

io::Picture shrunk(std::span<const float> grey, Index width, Index height, Index side) {
  const Index step = std::max<Index>(1, ceil_div(std::max(width, height), side));
  io::Picture small{ceil_div(width, step), ceil_div(height, step), {}};
  small.grey.resize(small.width * small.height);
  parallel_for(small.height, [&](Index line) {
    const Index top = line * step;
    for (Index column = 0; column < small.width; ++column) {
      const Index left = column * step;
      double sum = 0;
      Index finite = 0;
      for (Index y = top; y < std::min(top + step, height); ++y)
        for (Index x = left; x < std::min(left + step, width); ++x)
          if (const float value = grey[y * width + x]; std::isfinite(value)) sum += value, ++finite;
      small.grey[line * small.width + column] =
          finite > 0 ? static_cast<float>(sum / finite) : std::numeric_limits<float>::quiet_NaN();
    }
  });
  return small;
}

bool LiveView::due() const { return show_ && seconds_now() >= next_; }

void LiveView::show(std::vector<LivePicture> pictures) {
  show_(std::move(pictures));
  next_ = seconds_now() + pause_;
}

}  // namespace tandem::pipeline
