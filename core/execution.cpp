#include "execution.hpp"

#include <array>

#include "names.hpp"

namespace tandem {

namespace {

constexpr std::array<std::string_view, 5> models{"pixel_driven", "joseph", "separable_footprint", "fourier",
                                                 "hierarchical"};
constexpr std::array<std::string_view, 3> precisions{"float32", "float16", "uint8"};

}  // namespace

std::string_view name_of(Model model) { return row_of(models, model); }

std::string_view name_of(Precision precision) { return row_of(precisions, precision); }

std::string name_of(const Execution& e) { return e.variant + " " + std::string(name_of(e.precision)); }

Model model_named(std::string_view name) { return value_named<Model>(models, name, "model:"); }

Precision precision_named(std::string_view name) {
  return value_named<Precision>(precisions, name, "precision:");
}

}  // namespace tandem
