// Questions to a table of variants, on a table made up, and what docs/kernels.md says about the real ones.

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "../../core/error.hpp"
#include "../../kernels/variants.hpp"

namespace tandem {
namespace {

using kernels::ParallelVariant;
using enum Precision;

/// The views of hats that `slow` alone draws have this half-width.
constexpr int wide = 2;

/// `slow` does all; `few` is the fastest for few slices, but its transpose is not exact, and it leaves wide
/// hats to `slow`; `many` is so from 9 slices on, in float32 from 17, and refuses wide hats.
const std::vector<ParallelVariant>& rows() {
  static const std::vector<ParallelVariant> all = [] {
    const auto misfit = [](const ParallelViews& views, Precision, Shape, Device) -> const char* {
      return views.half_width == wide ? "too wide" : nullptr;
    };
    ParallelVariant slow{.name = "slow",
                         .grades = {{float32, true, {}}},
                         .forward = nullptr,
                         .backward = nullptr,
                         .working_memory = nullptr,
                         .kernels = nullptr};
    slow.fastest_from = [](Precision, const ParallelViews&) -> Index { return 1; };
    ParallelVariant few = slow, many = slow;
    few.name = "few", few.grades = {{float32, false, {}}, {float16, false, {}}, {uint8, false, {}}};
    few.misfit = misfit, few.instead = "slow";
    few.fastest_from = [](Precision p, const ParallelViews&) -> Index { return p == float32 ? 0 : 1; };
    many.name = "many", many.grades = {{float32, true, {}}, {float16, true, {}}};
    many.misfit = misfit;
    many.fastest_from = [](Precision p, const ParallelViews&) -> Index { return p == float32 ? 17 : 9; };
    return std::vector{slow, few, many};
  }();
  return all;
}

Execution resolved(const Execution& wanted, Index slices, Pairing pairing = Pairing::matched,
                   int half_width = 1) {
  return resolve(kernels::Table<ParallelViews>(rows()), wanted, pairing, {{}, 1, half_width}, {5, slices, 7},
                 Device::cpu());
}

TEST(Variants, AutomaticTakesTheFastest) {
  for (const Pairing pairing : {Pairing::matched, Pairing::any}) {
    EXPECT_EQ(resolved({}, 16, pairing), (Execution{"slow", float32}));
    EXPECT_EQ(resolved({}, 17, pairing), (Execution{"many", float32}));
    EXPECT_EQ(resolved({"automatic", float16}, 9, pairing), (Execution{"many", float16}));
  }
}

TEST(Variants, AutomaticTakesMatchedPairsIfThereAreAny) {
  EXPECT_EQ(resolved({"automatic", float16}, 8, Pairing::any), (Execution{"few", float16}));
  EXPECT_EQ(resolved({"automatic", float16}, 1), (Execution{"many", float16}));
  EXPECT_EQ(resolved({"automatic", uint8}, 40), (Execution{"few", uint8}));
}

TEST(Variants, WhatViewsDoNotFitIsLeftToAnotherOne) {
  for (const Index slices : {1, 40})
    for (const Pairing pairing : {Pairing::matched, Pairing::any})
      for (const Precision precision : {float32, float16, uint8})
        EXPECT_EQ(resolved({"automatic", precision}, slices, pairing, wide), (Execution{"slow", float32}));
  EXPECT_EQ(resolved({"few", uint8}, 3, Pairing::any, wide), (Execution{"slow", float32}));
  EXPECT_EQ(resolved({"few", uint8}, 3, Pairing::any), (Execution{"few", uint8}));
}

TEST(Variants, WhatViewsForbidIsAnError) {
  try {
    resolved({"many", float16}, 3, Pairing::any, wide);
    FAIL();
  } catch (const GeometryError& error) {
    EXPECT_STREQ(error.what(), "variant many: too wide");
  }
}

TEST(Variants, WhatTheTableHasNotIsAnErrorThatListsWhatItHas) {
  for (const Execution& wanted : {Execution{"slow", uint8}, {"other", float32}}) try {
      resolved(wanted, 3);
      FAIL();
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.what(), "device cpu: no " + name_of(wanted) +
                                  "; it has slow float32, few float32, few float16, few uint8, many float32, "
                                  "many float16");
    }
}

TEST(Variants, TheTuningGoesThrough) {
  EXPECT_EQ(resolved({"automatic", float32, {64, 2}}, 3), (Execution{"slow", float32, {64, 2}}));
  EXPECT_EQ(resolved({"few", float16, {64, 2}}, 3, Pairing::any, wide),
            (Execution{"slow", float32, {64, 2}}));
}

// ---- docs/kernels.md

/// "6.6e-3"
std::string text_of(double bound) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1e", bound);
  const std::string all = text, mantissa = all.substr(0, all.find('e'));
  const int exponent = std::stoi(all.substr(all.find('e') + 1));
  return (mantissa.ends_with(".0") ? mantissa.substr(0, 1) : mantissa) + "e" + std::to_string(exponent);
}

template <class Views>
void add_lines(std::string_view device, const char* beam, kernels::Table<Views> table,
               std::set<std::string>& lines) {
  for (const auto& row : table)
    for (const kernels::Grade& grade : row.grades)
      lines.insert("| " + std::string(device) + " | " + beam + " | `" + std::string(row.name) + "` | " +
                   std::string(name_of(grade.precision)) + " | " + (grade.matched ? "exact" : "rounded") +
                   " | " + text_of(grade.bounds.mu) + " | " + text_of(grade.bounds.kappa) + " | " +
                   text_of(grade.bounds.entry) + " |");
}

TEST(Variants, AreThoseOfTheDocuments) {
  std::set<std::string> lines, documented;
  std::string devices;
  for (const kernels::Backend& backend : kernels::backends()) {
    devices += "| " + std::string(backend.name) + " |";
    add_lines(backend.name, "parallel", backend.parallel, lines);
    add_lines(backend.name, "cone", backend.cone, lines);
    add_lines(backend.name, "fourier", backend.fourier, lines);
    add_lines(backend.name, "hierarchical", backend.hierarchical, lines);
  }
  std::ifstream file(TANDEM_DOCS "/kernels.md");
  for (std::string line; std::getline(file, line);)  // lines for what this build has
    if (line.starts_with("| c") && devices.find(line.substr(0, line.find('|', 1) + 1)) != std::string::npos)
      documented.insert(line);
  EXPECT_EQ(documented, lines);
}

}  // namespace
}  // namespace tandem
