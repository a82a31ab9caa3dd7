#pragma once

// Numbers as people write them, from what arithmetic left of them. Used only within geometry/.

namespace tandem {

/// The number with the fewest decimal digits that is at most `off` from another one.
double shortest_number(double number, double off);

/// The error that double arithmetic leaves in a number that was made from numbers up to `scale`.
constexpr double open_digits(double scale) { return 0x1p-46 * scale; }

}  // namespace tandem
