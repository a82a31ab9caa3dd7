#pragma once

/// CMake reads the version of the project from this line.
#define TANDEM_VERSION "0.2.0"
