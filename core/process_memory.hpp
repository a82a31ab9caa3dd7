#pragma once

#include <cstddef>

namespace tandem {

/// The memory that this process may still take, bytes.
std::size_t spare_host_memory();
/// The memory that this process holds; and the most that it has held so far, bytes. The memory of the program
/// that started it does not count.
std::size_t held_memory();
std::size_t peak_memory();

}  // namespace tandem
