#include "number_type.hpp"

#include "../../core/names.hpp"

namespace tandem::io {

namespace {

struct Row {
  const char* name;
  Index bytes;
};
constexpr Row rows[]{{"uint8", 1}, {"uint16", 2}, {"uint32", 4}, {"float16", 2}, {"float32", 4}};

}  // namespace

Index bytes_of(NumberType type) { return row_of(rows, type).bytes; }

const char* name_of(NumberType type) { return row_of(rows, type).name; }

NumberType number_type(PixelType type) {
  return type == PixelType::float32 ? NumberType::float32 : static_cast<NumberType>(type);
}

}  // namespace tandem::io
