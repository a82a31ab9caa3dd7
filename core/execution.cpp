#include "execution.hpp"

#include <array>
#include <utility>

#include "error.hpp"

namespace tandem {

namespace {

constexpr std::array<std::pair<std::string_view, Variant>, 6> variants{{{"automatic", Variant::automatic},
                                                                        {"standard", Variant::standard},
                                                                        {"texture", Variant::texture},
                                                                        {"alu", Variant::alu},
                                                                        {"hybrid", Variant::hybrid},
                                                                        {"tensor", Variant::tensor}}};

constexpr std::array<std::pair<std::string_view, Precision>, 3> precisions{
    {{"float32", Precision::float32}, {"float16", Precision::float16}, {"uint8", Precision::uint8}}};

template <class Names>
auto find(const Names& names, std::string_view name, const char* what) {
  std::string list;
  for (const auto& [known, value] : names) {
    if (known == name) return value;
    list += (list.empty() ? "" : ", ") + std::string(known);
  }
  throw GeometryError(std::string(what) + ": '" + std::string(name) + "' is not known; one of " + list);
}

}  // namespace

std::string_view name_of(Variant variant) { return variants[static_cast<std::size_t>(variant)].first; }
std::string_view name_of(Precision precision) {
  return precisions[static_cast<std::size_t>(precision)].first;
}
std::string name_of(Execution e) {
  return std::string(name_of(e.variant)) + " " + std::string(name_of(e.precision));
}

Variant variant_named(std::string_view name) { return find(variants, name, "variant"); }
Precision precision_named(std::string_view name) { return find(precisions, name, "precision"); }

}  // namespace tandem
