#pragma once

#include <cstddef>

namespace tandem::pipeline {

/// Memory that a process may still take, bytes.
std::size_t spare_host_memory();
/// What this process holds, and the most that it has held so far, bytes: its own, not that of the program
/// which started it.
std::size_t held_memory();
std::size_t peak_memory();

}  // namespace tandem::pipeline
