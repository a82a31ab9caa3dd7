#include "test_data.hpp"

// The only file that knows the place, so that ccache finds the objects of all others in any folder.
std::filesystem::path tandem::test::test_data() { return TANDEM_TEST_DATA; }
