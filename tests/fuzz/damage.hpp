#pragma once

// The damage that the fuzzer does to the bytes of a file.

#include <random>
#include <string>

namespace tandem::test {

/// Changes one to six places of a file, and cuts off one of 16. Places are bytes, numbers of up to eight
/// bytes, and blocks; of files that begin with text, lines and numbers of this text too.
std::string damaged(std::string bytes, std::mt19937_64& random);

}  // namespace tandem::test
