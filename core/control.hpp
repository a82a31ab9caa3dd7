#pragma once

// Used only within core/.

#include <optional>
#include <string>

#include "comm.hpp"

/// Messages between ranks beside their work, at any time. A thread of each rank listens for them. The thread
/// of the first rank has the counters and hears of failures, so that it answers also while the first rank
/// computes. The threads also see when the process of another rank of their machine has ended.
namespace tandem::control {

void begin(int rank, int size, OnRankFailure on_failure);
void expect_ends();  ///< from now on ranks may end
void end();          ///< returns when the thread has ended
int new_counter();
Index add(int counter, Index count);
void report(int code, const std::string& text);
std::optional<int> ending();

}  // namespace tandem::control
