#pragma once

#include <nlohmann/json.hpp>

#include "../../pipeline/watch/live.hpp"

namespace tandem::apps {

/// A picture on its way to a page, and what it says beside it.
struct Pictured {
  io::Picture picture;
  nlohmann::json head;
};

}  // namespace tandem::apps
