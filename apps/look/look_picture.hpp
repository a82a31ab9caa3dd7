#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "../../pipeline/watch/live.hpp"

namespace tandem::apps {

/// A picture on its way to a page, and what it says beside it.
struct Pictured {
  io::Picture picture;
  nlohmann::json head;
};

/// As a page reads it: a line of JSON, filled up with blanks to a multiple of four bytes, and then the pixels
/// row by row, as float32. With 16 bits they are uint16 codes if these are fine enough to be looked at, and
/// the head has {coded: [low, step]}: code k stands for low + k step, the last three for -inf, inf and NaN.
std::string bytes_of(const Pictured& some, int bits = 32);
/// {bits}: 16, or 32, which is the default. @throws UsageError
int bits_in(const nlohmann::json& asked);

}  // namespace tandem::apps
