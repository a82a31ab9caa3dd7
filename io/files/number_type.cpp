#include "number_type.hpp"

namespace tandem::io {

Index bytes_of(NumberType type) {
  switch (type) {
    case NumberType::uint8:
      return 1;
    case NumberType::uint16:
    case NumberType::float16:
      return 2;
    case NumberType::uint32:
    case NumberType::float32:
      break;
  }
  return 4;
}

const char* name_of(NumberType type) {
  switch (type) {
    case NumberType::uint8:
      return "uint8";
    case NumberType::uint16:
      return "uint16";
    case NumberType::uint32:
      return "uint32";
    case NumberType::float16:
      return "float16";
    case NumberType::float32:
      break;
  }
  return "float32";
}

NumberType number_type(PixelType type) {
  switch (type) {
    case PixelType::uint8:
      return NumberType::uint8;
    case PixelType::uint16:
      return NumberType::uint16;
    case PixelType::uint32:
      return NumberType::uint32;
    case PixelType::float32:
      break;
  }
  return NumberType::float32;
}

}  // namespace tandem::io
