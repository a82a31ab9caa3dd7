#pragma once

#include <filesystem>

namespace tandem::test {

/// The folder of measured scans and vectors, which may not be there. Tests that need it are skipped then.
std::filesystem::path test_data();

}  // namespace tandem::test
