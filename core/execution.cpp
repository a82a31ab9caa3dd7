#include "execution.hpp"

#include <array>

#include "names.hpp"

namespace tandem {

namespace {

constexpr std::array<std::string_view, 3> precisions{"float32", "float16", "uint8"};

}  // namespace

std::string_view name_of(Precision precision) { return row_of(precisions, precision); }

std::string name_of(const Execution& e) { return e.variant + " " + std::string(name_of(e.precision)); }

Precision precision_named(std::string_view name) {
  return static_cast<Precision>(&named(precisions, name, "precision:") - precisions.data());
}

}  // namespace tandem
