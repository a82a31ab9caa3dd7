#pragma once

#include <sstream>
#include <stdexcept>

#include "public.hpp"

namespace TANDEM_PUBLIC tandem {

/// The base of everything that the library throws. In one line, `what()` names the place, the quantity, its
/// value and unit, and what would be right.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
class GeometryError : public Error {  ///< numbers that describe no scan, grid or reconstruction
  using Error::Error;
};
class SpaceError : public Error {  ///< operator and vector do not meet
  using Error::Error;
};
class DeviceError : public Error {  ///< a device failed or is not there, or memory does not suffice
  using Error::Error;
};
class FileError : public Error {  ///< a file is missing, unreadable, or not what it claims
  using Error::Error;
};

/// Throws E with the joined parts. Cold: compilers give it little time and space.
template <class E, class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void refuse(const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw E(message.str());
}

/// Throws E with the joined parts unless `holds`. The message is built only on failure.
template <class E, class... Parts>
void require(bool holds, const Parts&... parts) {
  if (!holds) refuse<E>(parts...);
}

}  // namespace tandem
