#pragma once

#include <optional>
#include <string>

#include "../command.hpp"

namespace tandem::apps {

/// Several scans were asked for, and some failed; their own lines have been printed.
class ScansFailed : public std::runtime_error {
 public:
  ScansFailed(int code_of_first, const std::string& what) : std::runtime_error(what), code(code_of_first) {}
  const int code;
};

/// How a command failed.
struct Failure {
  int code;          ///< exit code of the program
  std::string text;  ///< what is wrong, and what was written before
};

/// Does the work, and returns its failure; empty if there is none. The code is 1 if a check did not hold; 2
/// if the command line is wrong; 3 if a file is missing, unreadable or not what it claims; 4 if the geometry
/// or a parameter makes no sense for this scan; 5 if the device failed, memory does not suffice, or a port is
/// in use; 128 + the number of a signal.
std::optional<Failure> failure_of(const std::function<void()>& work);

}  // namespace tandem::apps
